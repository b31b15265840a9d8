import { type CheckedFile, checkRules, type RuleProblem, RulesError, visibleText } from '@waldo/exec'
import { parseCommand } from '../parse-command.ts'
import { print } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { count } from './count.ts'
import { RULE_FLAGS, type RuleFlags, type RulePlace, type RuleSource, readRuleSource } from './rule-source.ts'
import { describeProblem } from './rules-problems.ts'

interface Tested {
  readonly ok: boolean
  readonly places: readonly RulePlace[]
  readonly files: readonly CheckedFile[]
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
  let source: RuleSource
  try {
    source = await readRuleSource(flags, help)
  } catch (error) {
    if (!(error instanceof RulesError)) throw error
    return { ok: false, places: [], files: [], problems: error.problems }
  }
  const { files, problems, rules } = checkRules(source.layers)
  return { ok: rules !== undefined, places: source.places, files, problems: inOrder(problems, files) }
}

/** As one goes through the files to repair them. */
function inOrder(problems: readonly RuleProblem[], files: readonly CheckedFile[]): readonly RuleProblem[] {
  const rank = new Map(files.map(({ file }, index) => [file, index]))
  return problems.toSorted(
    (a, b) => (rank.get(a.file) ?? 0) - (rank.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  )
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
