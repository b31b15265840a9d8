import type { Redirect } from '../../script/segment.ts'
import { matchesWildcard } from './wildcard.ts'

/**
 * How a rule names what it permits: the redirect as it is written in a shell, as `> build/*`, `2>> log` or `< *`. A `*`
 * is any part of one name, and alone any path; without a descriptor, the usual one is meant.
 */
const PATTERN = /^([0-9]?)(<>|<|>>|>|&>>|&>) ?([^\s<>&|;].*)$/s
const DUPLICATION = /^[0-9]{0,3}[<>]&(?:[0-9]{1,3}|-)$/

export function redirectPatternProblem(pattern: string): string | undefined {
  if (pattern.length > 4096) return 'is too long'
  if (DUPLICATION.test(pattern)) return undefined
  const [, descriptor, operator, target] = PATTERN.exec(pattern) ?? []
  if (target === undefined) return 'must be a redirect such as "> build/*", "2>> log" or "< *"'
  if (descriptor !== '' && operator!.startsWith('&')) return 'has a descriptor before `&>`, which redirects two of them'
  if (target.includes('**')) return 'holds `**`: `*` alone is any path, and any part of one name otherwise'
  if (target !== '*' && target.includes('*') && hasOddNames(target))
    return 'holds `..`, `.` or an empty name beside `*`'
  return undefined
}

/** What changes no file: one descriptor made another, or closed, and the place where nothing is. */
export function isHarmlessRedirect({ operator, target }: Redirect): boolean {
  if (operator === '>&' || operator === '<&') return /^(?:[0-9]{1,3}|-)$/.test(target)
  return target === '/dev/null'
}

export function permitsRedirect(pattern: string, redirect: Redirect): boolean {
  const [, descriptor, operator, target] = PATTERN.exec(pattern) ?? []
  if (target === undefined) return false
  const given = canonical(redirect)
  if (given.operator !== operator) return false
  if (given.descriptor !== (descriptor ? Number(descriptor) : usualDescriptor(operator!))) return false
  return permitsTarget(target, redirect.target)
}

function permitsTarget(pattern: string, target: string): boolean {
  if (pattern === target) return true
  // Shells make connections of these; there is no such file.
  if (!pattern.includes('*') || /^\/dev\/(?:tcp|udp)\//.test(target)) return false
  if (pattern === '*') return true
  const names = target.split('/')
  const patterns = pattern.split('/')
  // `build/*` is below build. What goes up again is not, and nobody can tell where `..` of a link leads.
  if (names.length !== patterns.length || hasOddNames(target)) return false
  return patterns.every((each, i) => matchesWildcard(each, names[i]!))
}

function hasOddNames(path: string): boolean {
  return path.split('/').some((name, i) => name === '..' || name === '.' || (name === '' && i > 0))
}

/** `>|` writes as `>` does, and `>&` with a path as `&>`. */
function canonical({ operator, descriptor }: Redirect): { operator: string; descriptor: number | undefined } {
  if (operator === '>&' && descriptor === undefined) return { operator: '&>', descriptor: undefined }
  const plain = operator === '>|' ? '>' : operator
  return { operator: plain, descriptor: descriptor ?? usualDescriptor(plain) }
}

function usualDescriptor(operator: string): number | undefined {
  if (operator.startsWith('&')) return undefined
  return operator.startsWith('<') ? 0 : 1
}

export function shownRedirect({ operator, descriptor, target }: Redirect): string {
  const space = operator === '>&' || operator === '<&' ? '' : ' '
  return `${descriptor ?? ''}${operator}${space}${target}`
}
