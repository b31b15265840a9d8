import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import { PatternError } from '../output/line-pattern/pattern-error.ts'
import type { LogLine } from '../output/log/log-snapshot.ts'
import type { ProcessLog } from '../output/log/process-log.ts'
import { byteBudget, policyOfCall } from '../output/truncation-policy.ts'
import { encodeUtf8 } from '../output/utf8.ts'
import { outputBudget } from './output-budget.ts'

export interface ReadOutputArguments {
  readonly session_id: number
  readonly offset?: number | undefined
  readonly grep?: string | undefined
  readonly context?: number | undefined
  readonly lines?: { readonly from: number; readonly count?: number | null | undefined } | undefined
  readonly max_output_tokens?: number | undefined
}

const DEFAULT_LINES = 100

/** What a process has ever said, as far as it is kept: nothing that was cut from an answer is lost by that. */
export function readOutput(args: ReadOutputArguments, { turn }: ToolCall, { store }: Services): ToolAnswer {
  const { log } = store.get(args.session_id).output
  const { grep, lines, offset, context } = args
  if (lines !== undefined && (grep !== undefined || offset !== undefined)) {
    throw new InvalidCall('read_output takes `lines`, or `offset` and `grep`, and not both')
  }
  if (context !== undefined && grep === undefined) throw new InvalidCall('read_output takes `context` only with `grep`')
  // What the model cannot take would be cut from its middle later.
  const maxBytes = byteBudget(policyOfCall(turn.settings.truncation, outputBudget(args)))
  try {
    if (grep !== undefined) return found(log, { pattern: grep, context, offset }, maxBytes)
    if (lines !== undefined) return numberedLines(log, lines, maxBytes)
    return page(log, offset ?? 0, maxBytes)
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof PatternError)) throw error
    throw new InvalidCall(`read_output failed: ${error.message}`, { cause: error })
  }
}

function page(log: ProcessLog, offset: number, maxBytes: number): ToolAnswer {
  const { text, ...at } = log.read({ offset, maxBytes: Math.max(1, maxBytes) })
  const header = [
    `Bytes ${at.offset}-${at.nextOffset} of ${at.totalBytes}`,
    ...(at.missingBytes > 0 ? [`${at.missingBytes} bytes before that are no longer kept`] : []),
    ...(at.nextOffset < at.totalBytes ? [`Go on with offset ${at.nextOffset}`] : []),
  ]
  const structured = { output: text, offset: at.offset, next_offset: at.nextOffset, total_bytes: at.totalBytes }
  return { text: [...header, 'Output:', text].join('\n'), success: true, structured }
}

function numberedLines(
  log: ProcessLog,
  { from, count }: NonNullable<ReadOutputArguments['lines']>,
  maxBytes: number,
): ToolAnswer {
  const result = log.lines({ from, count: count ?? DEFAULT_LINES })
  const { shown, cut } = fitting(result.lines, numbered, maxBytes)
  const nextLine = cut?.line ?? result.nextLine
  const header = [
    `${shown.length} of ${result.totalLines} lines`,
    ...(result.missingLines > 0 ? [`${result.missingLines} lines before that are no longer kept`] : []),
    ...(nextLine === undefined ? [] : [`Go on with line ${nextLine}`]),
  ]
  return answer(header, shown.map(numbered), { lines: shown, total_lines: result.totalLines })
}

function found(
  log: ProcessLog,
  options: { pattern: string; context: number | undefined; offset: number | undefined },
  maxBytes: number,
): ToolAnswer {
  const result = log.grep(options)
  const marked = (line: (typeof result.lines)[number]) => `${line.isMatch ? '>' : ' '}${numbered(line)}`
  const { shown, cut } = fitting(result.lines, marked, maxBytes)
  const matches = shown.filter(({ isMatch }) => isMatch).length
  // What was found and does not fit is found again.
  const nextOffset = cut?.offset ?? result.nextOffset
  const header = [
    `${matches} ${matches === 1 ? 'match' : 'matches'} in ${result.searchedBytes} bytes`,
    ...(result.missingBytes > 0 ? [`${result.missingBytes} bytes before that are no longer kept`] : []),
    ...(result.skippedBytes > 0 ? [`${result.skippedBytes} bytes were too hard for the pattern`] : []),
    ...(nextOffset === undefined ? [] : [`That is not all of it; go on with offset ${nextOffset}`]),
  ]
  return answer(header, shown.map(marked), { lines: shown, matches })
}

/** As many lines as fit, but at least one: whoever goes on reading has to get somewhere. */
function fitting<T>(
  lines: readonly T[],
  text: (line: T) => string,
  maxBytes: number,
): { readonly shown: readonly T[]; readonly cut: T | undefined } {
  let room = maxBytes
  const end = lines.findIndex((line, index) => {
    room -= encodeUtf8(text(line)).length + 1
    return room < 0 && index > 0
  })
  return end < 0 ? { shown: lines, cut: undefined } : { shown: lines.slice(0, end), cut: lines[end] }
}

function numbered({ line, text, cutBefore, cutAfter }: LogLine): string {
  return `${line}: ${cutBefore > 0 ? `…${cutBefore} bytes…` : ''}${text}${cutAfter > 0 ? `…${cutAfter} bytes…` : ''}`
}

function answer(header: string[], shown: string[], structured: Record<string, unknown>): ToolAnswer {
  return { text: [...header, 'Output:', ...shown].join('\n'), success: true, structured }
}
