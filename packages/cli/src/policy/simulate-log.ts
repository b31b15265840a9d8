import { createReadStream } from 'node:fs'
import { simulate } from '@waldo/exec'
import { parseCommand } from '../parse-command.ts'
import { printError } from '../print.ts'
import { BROKEN_PIPE, OutputClosedError, StandardStream } from '../standard-stream.ts'
import { UsageError } from '../usage-error.ts'
import { columns } from './columns.ts'
import { CALL_FLAGS, callSettings, policyOf } from './judged-call.ts'
import { RULE_FLAGS, readRuleSource } from './rule-source.ts'
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
  const now = policyOf(layers)
  const other = policyOf(await otherLayers(flags, help))
  // Without others, what the rules do is seen best beside none at all.
  const policies = flags.against ? { before: now, after: other } : { before: other, after: now }
  const report = new SimulationReport()
  const output = new StandardStream(process.stdout)
  try {
    const log = createReadStream(flags.log, 'utf8')
    for await (const event of simulate(log as AsyncIterable<string>, { ...policies, call })) {
      if (flags.json) await output.write(`${JSON.stringify(event)}\n`)
      report.add(event)
    }
    if (!flags.json) await output.write(`${report.describe(columns())}\n`)
    await output.flush()
  } catch (error) {
    if (error instanceof OutputClosedError) return BROKEN_PIPE
    if (!(error instanceof Error && 'syscall' in error)) throw error
    printError(`Error: cannot read ${flags.log}: ${error.message}`)
    return 1
  }
  if (report.commands > 0) return 0
  printError(`Error: there is no command in ${flags.log}`)
  return 1
}

/** The rules to compare with: none at all if none are named. */
async function otherLayers({ against, starter }: { against?: string[]; starter?: true }, help: string) {
  if (!against) return []
  return (await readRuleSource({ rules: against, ...(starter && { starter }) }, help)).layers
}
