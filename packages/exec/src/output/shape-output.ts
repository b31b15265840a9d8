import { countLines } from './count-lines.ts'
import { type HeadTailBuffer, omissionLine } from './head-tail-buffer.ts'
import { type Cut, findCut, withoutMiddle } from './truncate-middle.ts'
import { type TruncationPolicy, tokensOfBytes } from './truncation-policy.ts'
import { decodeLossy, encodeUtf8, validUtf8 } from './utf8.ts'

/** Where everything can be read that a process has said. */
export interface FullOutput {
  readonly sessionId: number
  /** Where in the log this output begins. */
  readonly offset: number
}

/** Bytes that were not kept, and the line that stands for them in the text. */
interface Gap extends Cut {
  readonly line: string
}

/** The output since the last answer, within the policy. `full`, if there is a log to read the rest in. */
export function shapeOutput(output: HeadTailBuffer, policy: TruncationPolicy, full?: FullOutput): string {
  const { bytes, gap } = textOf(output)
  const cut = findCut(bytes, policy)
  const firstMissing = cut && gap ? Math.min(cut.from, gap.from) : (cut ?? gap)?.from
  if (firstMissing === undefined) return decodeLossy(bytes)
  const header: string[] = []
  if (cut) {
    const tokens = tokensOfBytes(gap ? output.totalBytes : bytes.length)
    header.push(`Warning: truncated output (original token count: ${tokens})`)
    // Lines that are not there any more cannot be counted.
    if (!gap) header.push(`Total output lines: ${countLines(bytes)}`)
    else if (cut.from < gap.to && gap.from < cut.to) header.push(gap.line)
  }
  // Before the output: what a process writes itself cannot come first.
  if (full) header.push(fullOutputLine(full, bytes.subarray(0, firstMissing)))
  const text = cut ? withoutMiddle(bytes, cut, policy) : decodeLossy(bytes)
  return header.length === 0 ? text : `${header.join('\n')}\n\n${text}`
}

/** How many tokens a process has said since the last answer, shown or not. */
export function originalTokenCount(output: HeadTailBuffer): number {
  return tokensOfBytes(output.totalBytes)
}

/** All that is kept, with a line where something is not. */
export function rawText(output: HeadTailBuffer): string {
  return decodeLossy(output.markedBytes())
}

function textOf(output: HeadTailBuffer): { bytes: Uint8Array; gap?: Gap } {
  if (output.omittedBytes === 0) return { bytes: validUtf8(output.bytes()) }
  const head = validUtf8(output.head())
  const line = omissionLine(output.omittedBytes)
  const marker = encodeUtf8(`\n${line}\n`)
  const tail = validUtf8(output.tail())
  const bytes = new Uint8Array(head.length + marker.length + tail.length)
  bytes.set(head)
  bytes.set(marker, head.length)
  bytes.set(tail, head.length + marker.length)
  return { bytes, gap: { from: head.length, to: head.length + marker.length, line } }
}

function fullOutputLine({ sessionId, offset }: FullOutput, shown: Uint8Array): string {
  // A replacement character is three bytes and may stand for one. Rather show some bytes twice than leave some out.
  const replaced = decodeLossy(shown).split('\ufffd').length - 1
  return `Full output: read_output {"session_id": ${sessionId}, "offset": ${offset + shown.length - 2 * replaced}}`
}
