import type { Requirement } from '../../orchestrator/requirement.ts'
import type { CommandPolicy, CommandToJudge } from '../command-policy.ts'
import { type RecordedCommand, recordedCommand } from './recorded-command.ts'
import { textLines } from './text-lines.ts'

export type Change = 'newly-denied' | 'newly-asked' | 'newly-allowed' | 'newly-unsandboxed' | 'newly-sandboxed'

export type SimulationEvent =
  /** A command that the two policies treat differently. */
  | {
      readonly kind: 'difference'
      readonly line: number
      readonly argv: readonly string[]
      readonly changes: readonly Change[]
      readonly before: Requirement
      readonly after: Requirement
    }
  /** A line that is no record. It was not judged. */
  | { readonly kind: 'unreadable'; readonly line: number; readonly problem: string }
  /** The last one. */
  | {
      readonly kind: 'end'
      readonly commands: number
      readonly unreadable: number
      readonly changes: Readonly<Record<Change, number>>
    }

export interface SimulationOptions {
  readonly before: Pick<CommandPolicy, 'judge'>
  readonly after: Pick<CommandPolicy, 'judge'>
  /** What holds for all calls. `shell` runs those that are recorded as `cmd`. */
  readonly call: Omit<CommandToJudge, 'argv' | 'sandboxPermissions' | 'prefixRule' | 'shell'> & {
    readonly shell: string
  }
}

const MAX_LINE = 1024 * 1024

/** Judges recorded commands (JSON lines, in pieces of any size) by two policies, one at a time, and tells what differs. */
export async function* simulate(
  chunks: AsyncIterable<string> | Iterable<string>,
  { before, after, call }: SimulationOptions,
): AsyncGenerator<SimulationEvent> {
  const counts: Record<Change, number> = {
    'newly-denied': 0,
    'newly-asked': 0,
    'newly-allowed': 0,
    'newly-unsandboxed': 0,
    'newly-sandboxed': 0,
  }
  let commands = 0
  let unreadable = 0
  for await (const { number: line, text } of textLines(chunks, MAX_LINE)) {
    if (text?.trim() === '') continue
    const record = read(text, call.shell)
    if ('problem' in record) {
      unreadable++
      yield { kind: 'unreadable', line, problem: record.problem }
      continue
    }
    commands++
    const command = { ...call, ...record }
    const [was, is] = [await before.judge(command), await after.judge(command)]
    const changes = changesBetween(was, is)
    for (const change of changes) counts[change]++
    if (changes.length > 0) yield { kind: 'difference', line, argv: record.argv, changes, before: was, after: is }
  }
  yield { kind: 'end', commands, unreadable, changes: counts }
}

function read(text: string | undefined, shell: string): RecordedCommand | { readonly problem: string } {
  if (text === undefined) return { problem: `it is longer than ${MAX_LINE} characters` }
  try {
    return recordedCommand(text, shell)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function changesBetween(before: Requirement, after: Requirement): Change[] {
  const changes: Change[] = []
  if (before.kind !== after.kind) {
    changes.push(({ forbidden: 'newly-denied', ask: 'newly-asked', skip: 'newly-allowed' } as const)[after.kind])
  }
  const wasOutside = before.kind === 'skip' && before.bypassSandbox
  const isOutside = after.kind === 'skip' && after.bypassSandbox
  if (isOutside && !wasOutside) changes.push('newly-unsandboxed')
  if (wasOutside && after.kind === 'skip' && !isOutside) changes.push('newly-sandboxed')
  return changes
}
