import { readLiteralWord } from './literal-word.ts'
import type { Refusal } from './refusal.ts'
import type { Redirect } from './segment.ts'
import type { ShellKind } from './shell-wrapper.ts'

export interface LiteralRedirect {
  readonly redirect: Redirect
  readonly end: number
}

const OPERATOR = /([0-9]?)(&>>|&>|>>|>\||>&|<>|<&|<<|<|>)/y

/**
 * Reads the redirect at `start`. A descriptor is one digit: of `10>log`, some shells take the 10 for a word. So is the
 * digit before `&>`.
 */
export function readRedirect(script: string, start: number, shell: ShellKind): LiteralRedirect | Refusal {
  OPERATOR.lastIndex = start
  const [text, digit, operator] = OPERATOR.exec(script) ?? []
  if (text === undefined || operator === undefined) return { what: 'a redirect that is none', offset: start }
  if (operator === '<<') return { what: 'a here-document or here-string', offset: start }
  const isBoth = operator === '&>' || operator === '&>>'
  if (isBoth && shell === 'sh')
    return { what: 'a command in the background (in sh, `&>` is `&` and `>`)', offset: start }
  if (isBoth && digit !== '') return { what: `a descriptor before \`${operator}\``, offset: start }
  let at = start + text.length
  // `>>|`, `>&!`, `<(…)`: other operators of some shells.
  if (/[<>&|(!]/.test(script[at] ?? '')) return { what: 'a redirect that not every shell knows', offset: start }
  while (script[at] === ' ' || script[at] === '\t') at++
  const target = readLiteralWord(script, at)
  if ('what' in target) return target
  const refuse = (what: string): Refusal => ({ what, offset: at })
  if (target.value === '') return refuse('a redirect without a target')
  const raw = script.slice(at, target.end)
  if (operator === '>&' || operator === '<&') {
    if (!/^(?:[0-9]|-)$/.test(raw)) return refuse(`\`${operator}\` with something other than one digit or \`-\``)
  } else if (operator === '<' && /^[0-9]*-[0-9]*$/.test(raw)) {
    return refuse('a range of numbers, which is a glob in zsh')
  } else if (/^\/dev\/(?:tcp|udp)\//.test(target.value)) return refuse('a redirect to a network address')
  const descriptor = digit === '' ? {} : { descriptor: Number(digit) }
  return {
    redirect: { operator: operator as Redirect['operator'], ...descriptor, target: target.value },
    end: target.end,
  }
}

/** Which descriptors it changes. */
export function redirected({ operator, descriptor }: Redirect): readonly number[] {
  if (operator === '&>' || operator === '&>>') return [1, 2]
  return [descriptor ?? (operator.startsWith('<') ? 0 : 1)]
}
