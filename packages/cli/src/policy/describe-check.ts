import { RequestSheet, shellQuote, shellWrapper, type Why } from '@waldo/exec'
import type { Check, CheckedSegment } from './check-command.ts'

const MAX_COMMAND_ROWS = 40
/** Nobody reads more. All of them are in the JSON. */
const MAX_SEGMENTS = 50

const LABELS = { allow: 'allow', ask: 'ask', forbidden: 'forbid' } as const
const SOURCES: Readonly<Record<Why['source'], string>> = {
  rule: 'rule',
  dangerous: 'danger',
  'approval-policy': 'policy',
  'sandbox-permissions': 'sandbox',
  patch: 'patch',
}
const WHERE = { inside: 'inside the sandbox', outside: 'OUTSIDE of the sandbox', none: 'without a sandbox' } as const

/** For people. What the command and the rules say is told from what we say, and cannot act on a terminal. */
export function describeCheck(check: Check, columns: number): string {
  const sheet = new RequestSheet(columns)
  const { argv, segments, why, opaque, reason, proposedRule } = check
  sheet.title(verdict(check))
  sheet.block(shellWrapper(argv)?.script ?? shellQuote(argv), MAX_COMMAND_ROWS)
  if (reason !== null) sheet.field('reason', reason)
  sheet.title('')
  sheet.title(opaque === null ? 'What it runs' : 'What it runs cannot be seen, so it is judged as a whole')
  if (opaque !== null) sheet.field('', `for there is ${opaque}`)
  for (const each of segments.slice(0, MAX_SEGMENTS))
    describeSegment(each, { sheet, isDecisive: each.decision === check.decision })
  if (segments.length > MAX_SEGMENTS)
    sheet.field('', `… and ${segments.length - MAX_SEGMENTS} more, all of which --json shows`)
  sheet.title('')
  sheet.title('Why')
  for (const { source, text, origin, otherwise } of why) {
    sheet.field(SOURCES[source], text)
    if (origin !== undefined) sheet.field('', `at ${origin}`)
    if (otherwise !== undefined) sheet.field('', `→ ${otherwise}`)
  }
  if (proposedRule !== null) {
    sheet.title('')
    sheet.title(
      `The rule that is offered ${check.decision === 'ask' ? 'with the question' : 'if the sandbox denies it'}`,
    )
    sheet.block(proposedRule, MAX_COMMAND_ROWS)
  }
  return sheet.toString().trimEnd()
}

function verdict({ decision, sandbox }: Check): string {
  switch (decision) {
    case 'allow':
      return `allow: it runs ${WHERE[sandbox!]}, and nobody is asked`
    case 'ask':
      return `ask: somebody is asked first; after a yes it runs ${WHERE[sandbox!]}`
    case 'forbidden':
      return 'forbidden: it does not run'
  }
}

const ROLES = {
  command: '',
  script: '',
  shell: 'the shell, which is not the usual one: ',
  within: 'within it: ',
} as const

function describeSegment(
  checked: CheckedSegment,
  { sheet, isDecisive }: { sheet: RequestSheet; isDecisive: boolean },
): void {
  const { role, words, env, redirects, decision, rules, misses, otherwise } = checked
  const text = [...env, shellQuote(words), ...redirects].join(' ')
  sheet.field(LABELS[decision], `${ROLES[role]}${role === 'script' ? 'the whole script' : text}`)
  for (const { origin, decision: says } of rules) sheet.field('', `rule ${origin}: ${says}`)
  // What decided the whole is told as the reason for it, with the first rule that nearly did.
  for (const { origin, because } of isDecisive ? misses.slice(1) : misses) {
    sheet.field('', `not rule ${origin}: ${because}`)
  }
  if (otherwise !== null && !isDecisive) sheet.field('', otherwise)
}
