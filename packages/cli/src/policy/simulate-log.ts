import { createReadStream } from 'node:fs'
import { type RulePolicy, simulate } from '@waldo/exec'
import { parseCommand } from '../parse-command.ts'
import { print, printError } from '../print.ts'
import { UsageError } from '../usage-error.ts'
import { columns } from './columns.ts'
import { CALL_FLAGS, callSettings, explainCall, policyOf } from './judged-call.ts'
import { RULE_FLAGS, readGiven, readRuleSource } from './rule-source.ts'
import { SimulationReport } from './simulation-report.ts'

/** Judges recorded commands by the rules that hold and by others, and shows what would be different. */
export async function simulateLog(args: string[], help: string): Promise<number> {
  const flagTable = { ...RULE_FLAGS, ...CALL_FLAGS, json: 'switch', log: 'text', against: 'texts' } as const
  const { flags, operands, rest = [] } = parseCommand(args, { flags: flagTable, help })
  const [stray] = [...operands, ...rest]
  if (stray !== undefined) throw new UsageError(`simulate: unexpected argument \`${stray}\``, help)
  if (flags.log === undefined) throw new UsageError('simulate: --log FILE is missing', help)
  const call = callSettings(flags, help)
  const { layers } = await readRuleSource(flags, help)
  const now = judging(policyOf(layers))
  const other = judging(policyOf(flags.against ? (await readGiven(flags.against)).layers : []))
  // Without others, what the rules do is seen best beside none at all.
  const policies = flags.against ? { before: now, after: other } : { before: other, after: now }
  const report = new SimulationReport()
  try {
    const log = createReadStream(flags.log, 'utf8')
    for await (const event of simulate(log as AsyncIterable<string>, { ...policies, call })) {
      if (flags.json) print(JSON.stringify(event))
      report.add(event)
    }
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    printError(`Error: cannot read ${flags.log}: ${error.message}`)
    return 1
  }
  if (!flags.json) print(report.describe(columns()))
  if (report.commands > 0) return 0
  printError(`Error: there is no command in ${flags.log}`)
  return 1
}

function judging(policy: RulePolicy) {
  return {
    judge: async (command: Parameters<RulePolicy['judge']>[0]) => (await explainCall(policy, command)).requirement,
  }
}
