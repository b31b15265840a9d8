import {
  type Decision,
  loadRules,
  type Origin,
  type PrefixRule,
  RequestSheet,
  type RuleSet,
  shownOrigin,
} from '@waldo/exec'
import { parseCommand } from '../parse-command.ts'
import { print } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { columns } from './columns.ts'
import { RULE_FLAGS, type RulePlace, readRuleSource } from './rule-source.ts'

const LABELS: Readonly<Record<Decision, string>> = { allow: 'allow', prompt: 'ask', forbidden: 'forbid' }

/** The rules that hold, and where each is written. */
export async function showRules(args: string[], help: string): Promise<number> {
  const { flags, operands, rest = [] } = parseCommand(args, { flags: { ...RULE_FLAGS, json: 'switch' }, help })
  const [stray] = [...operands, ...rest]
  if (stray !== undefined) throw new UsageError(`show: unexpected argument \`${stray}\``, help)
  const { places, layers } = await readRuleSource(flags, help)
  const rules = loadRules(layers)
  if (flags.json) {
    const { prefixRules, hostExecutables, networkRules } = rules
    print(JSON.stringify({ places, prefixRules, hostExecutables, networkRules }))
  } else print(describe(places, rules))
  return 0
}

function describe(places: readonly RulePlace[], rules: RuleSet): string {
  const sheet = new RequestSheet(columns())
  const { prefixRules, hostExecutables, networkRules } = rules
  sheet.title('Where rules are written')
  for (const { layer, path, state } of places) sheet.field(layer, `${path}${state === 'read' ? '' : ` (${state})`}`)
  sheet.title('')
  sheet.title(
    prefixRules.length === 0 ? 'No rules for commands' : 'Commands: of all rules that match, the strictest counts',
  )
  for (const rule of prefixRules) describePrefixRule(rule, sheet)
  if (hostExecutables.length > 0) {
    sheet.title('')
    sheet.title('Programs: the files that allow rules mean by a name')
    for (const { name, paths, origin } of hostExecutables) {
      sheet.field('program', `${name}: ${paths.join(', ') || 'none at all'}`)
      sheet.field('', whereOf(origin))
    }
  }
  if (networkRules.length > 0) {
    sheet.title('')
    sheet.title('Network: of all rules for a host, the strictest counts')
    for (const { host, protocol, decision, justification, origin } of networkRules) {
      sheet.field(LABELS[decision], `${host} (${protocol})`)
      if (justification !== undefined) sheet.field('', `because: ${justification}`)
      sheet.field('', whereOf(origin))
    }
  }
  return sheet.toString().trimEnd()
}

function describePrefixRule(rule: PrefixRule, sheet: RequestSheet): void {
  const { pattern, decision, sandbox, env, redirects, justification, origin } = rule
  const words = pattern.map((words) => (words.length === 1 ? word(words[0]!) : `{${words.map(word).join('|')}}`))
  sheet.field(LABELS[decision], words.join(' '))
  if (justification !== undefined) sheet.field('', `because: ${justification}`)
  if (decision === 'allow') {
    const where = sandbox === 'bypass' ? 'OUTSIDE of the sandbox' : 'inside the sandbox'
    const may = [...env.map((name) => `set ${name}`), ...redirects.map((redirect) => `redirect ${redirect}`)]
    sheet.field('', `${where}${may.length === 0 ? '' : `; it may ${may.join(', ')}`}`)
  }
  sheet.field('', whereOf(origin))
}

function word(text: string): string {
  return /^[^\s{}|"]+$/.test(text) ? text : JSON.stringify(text)
}

function whereOf(origin: Origin): string {
  return `${shownOrigin(origin)} (${origin.layer})`
}
