import { loadRules, parseCalls, type RuleFile, type RuleProblem, RulesError, visibleText } from '@waldo/exec'
import { parseCommand } from '../parse-command.ts'
import { print } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { count } from './count.ts'
import { RULE_FLAGS, type RuleFlags, type RulePlace, readRuleSource } from './rule-source.ts'
import { describeProblem } from './rules-problems.ts'

interface TestedFile {
  readonly file: string
  readonly rules: number
  readonly examples: number
}

interface Tested {
  readonly ok: boolean
  readonly places: readonly RulePlace[]
  readonly files: readonly TestedFile[]
  readonly problems: readonly RuleProblem[]
}

/** Reads all rules and holds their examples against them. */
export async function testRules(args: string[], help: string): Promise<number> {
  const { flags, operands, rest = [] } = parseCommand(args, { flags: { ...RULE_FLAGS, json: 'switch' }, help })
  const [stray] = [...operands, ...rest]
  if (stray !== undefined) throw new UsageError(`test: unexpected argument \`${stray}\`; --rules names rules`, help)
  const tested = await test(flags, help)
  print(flags.json ? JSON.stringify(tested) : describe(tested))
  return tested.ok ? 0 : 1
}

async function test(flags: RuleFlags, help: string): Promise<Tested> {
  let places: readonly RulePlace[] = []
  let files: readonly TestedFile[] = []
  try {
    const source = await readRuleSource(flags, help)
    places = source.places
    files = source.layers.flatMap((layer) => layer.files).map(counted)
    loadRules(source.layers)
    return { ok: true, places, files, problems: [] }
  } catch (error) {
    if (!(error instanceof RulesError)) throw error
    return { ok: false, places, files, problems: inOrder(error.problems, files) }
  }
}

/** As one goes through the files to repair them. */
function inOrder(problems: readonly RuleProblem[], files: readonly TestedFile[]): readonly RuleProblem[] {
  const rank = new Map(files.map(({ file }, index) => [file, index]))
  return problems.toSorted(
    (a, b) => (rank.get(a.file) ?? 0) - (rank.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  )
}

/** What can be read of it, also if not all of it can. */
function counted({ path: file, text }: RuleFile): TestedFile {
  const { calls } = parseCalls(text)
  let examples = 0
  for (const call of calls) {
    if (call.name !== 'prefix_rule') continue
    for (const [index, { name, value }] of call.arguments.entries()) {
      const isExamples = name === undefined ? index === 2 || index === 3 : name === 'match' || name === 'not_match'
      if (isExamples && value.kind === 'list') examples += value.items.length
    }
  }
  return { file, rules: calls.length, examples }
}

function describe({ ok, places, files, problems }: Tested): string {
  const lines = files.map(({ file, rules, examples }) => {
    return `${visibleText(file)}: ${count(rules, 'rule')}, ${count(examples, 'example')}`
  })
  const nothing = `There are no rules: ${places.map(({ path, state }) => `${path} (${state})`).join(', ')}`
  if (ok) return [...(files.length === 0 ? [visibleText(nothing)] : lines), 'All is well.'].join('\n')
  const verdict = `${count(problems.length, 'problem')}: as long as there is one, none of the rules can be used.`
  return [...lines, ...problems.map(describeProblem), verdict].join('\n')
}
