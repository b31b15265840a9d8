import type { Services } from '../conversation/services.ts'
import type { ToolAnswer } from '../conversation/tool-call.ts'
import { PatternError } from '../output/line-pattern/pattern-error.ts'
import type { LogLine } from '../output/log/log-snapshot.ts'
import type { ProcessLog } from '../output/log/process-log.ts'
import { DEFAULT_MAX_OUTPUT_TOKENS } from '../output/truncation-policy.ts'
import { InvalidCall } from '../permissions/call-permissions.ts'

export interface ReadOutputArguments {
  readonly session_id: number
  readonly offset?: number | undefined
  readonly grep?: string | undefined
  readonly context?: number | undefined
  readonly lines?: { readonly from: number; readonly count?: number | undefined } | undefined
  readonly max_output_tokens?: number | undefined
}

const BYTES_PER_TOKEN = 4
const DEFAULT_LINES = 100

/** What a process has ever said, as far as it is kept: nothing that was cut from an answer is lost by that. */
export function readOutput(args: ReadOutputArguments, { store }: Services): ToolAnswer {
  const { log } = store.get(args.session_id)
  try {
    if (args.grep !== undefined) return found(log, args.grep, args)
    if (args.lines !== undefined) return lines(log, args.lines)
    return page(log, args)
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof PatternError)) throw error
    throw new InvalidCall(`read_output failed: ${error.message}`, { cause: error })
  }
}

function page(log: ProcessLog, { offset = 0, max_output_tokens: tokens }: ReadOutputArguments): ToolAnswer {
  const maxBytes = Math.max(1, Math.floor(tokens ?? DEFAULT_MAX_OUTPUT_TOKENS)) * BYTES_PER_TOKEN
  const { text, ...at } = log.read({ offset, maxBytes })
  const header = [
    `Bytes ${at.offset}-${at.nextOffset} of ${at.totalBytes}`,
    ...(at.missingBytes > 0 ? [`${at.missingBytes} bytes before that are no longer kept`] : []),
    ...(at.nextOffset < at.totalBytes ? [`Go on with offset ${at.nextOffset}`] : []),
  ]
  const structured = { output: text, offset: at.offset, next_offset: at.nextOffset, total_bytes: at.totalBytes }
  return { text: [...header, 'Output:', text].join('\n'), success: true, structured }
}

function lines(
  log: ProcessLog,
  { from, count = DEFAULT_LINES }: NonNullable<ReadOutputArguments['lines']>,
): ToolAnswer {
  const result = log.lines({ from, count })
  const header = [
    `Lines of ${result.totalLines}`,
    ...(result.missingLines > 0 ? [`${result.missingLines} lines before that are no longer kept`] : []),
    ...(result.nextLine === undefined ? [] : [`Go on with line ${result.nextLine}`]),
  ]
  return answer(header, result.lines.map(numbered), { lines: result.lines, total_lines: result.totalLines })
}

function found(log: ProcessLog, pattern: string, { context, offset }: ReadOutputArguments): ToolAnswer {
  const result = log.grep({ pattern, context, offset })
  const header = [
    `${result.matches} matches in ${result.searchedBytes} bytes`,
    ...(result.missingBytes > 0 ? [`${result.missingBytes} bytes before that are no longer kept`] : []),
    ...(result.skippedBytes > 0 ? [`${result.skippedBytes} bytes were too hard for the pattern`] : []),
    ...(result.nextOffset === undefined
      ? []
      : [`${result.unsearchedBytes} bytes were not searched; go on with offset ${result.nextOffset}`]),
  ]
  const shown = result.lines.map((line) => `${line.isMatch ? '>' : ' '}${numbered(line)}`)
  return answer(header, shown, { lines: result.lines, matches: result.matches })
}

function numbered({ line, text, cutBefore, cutAfter }: LogLine): string {
  return `${line}: ${cutBefore > 0 ? `…${cutBefore} bytes…` : ''}${text}${cutAfter > 0 ? `…${cutAfter} bytes…` : ''}`
}

function answer(header: string[], shown: string[], structured: Record<string, unknown>): ToolAnswer {
  return { text: [...header, 'Output:', ...shown].join('\n'), success: true, structured }
}
