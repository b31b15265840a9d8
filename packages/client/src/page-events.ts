import type { ProcessEvent } from '@waldo/environment'
import type { ProcessReadResult } from '@waldo/protocol'
import { decodeBase64 } from '@waldo/protocol'
import { exitVerdict } from './exit-verdict.ts'

/**
 * The events that an answer to `process/read` stands for. It lists output only; but numbers have no gaps, so one that
 * is missing is the exit, and the last of a process that has closed is the end.
 */
export function* eventsOfPage(
  page: ProcessReadResult,
  after: number,
  exitSeen: boolean,
): Generator<ProcessEvent, void> {
  let last = after
  let exited = exitSeen
  const exit = (seq: number): ProcessEvent => {
    exited = true
    return { type: 'exited', seq, exitCode: page.exitCode ?? -1, ...exitVerdict(page) }
  }
  for (const { seq, stream, chunk, droppedBytes } of page.chunks) {
    if (seq === last + 2 && !exited) yield exit(++last)
    if (seq !== last + 1) throw new Error(`events ${last + 1} to ${seq - 1} are no longer kept`)
    last = seq
    const event = { type: 'output', seq, stream, data: decodeBase64(chunk) } as const
    yield droppedBytes === undefined ? event : { ...event, droppedBytes }
  }
  // What a page with more to come says of the process is how it is now, not how it was at its last chunk.
  const end = page.nextSeq - 1
  if (end <= last) return
  if (page.exited && !exited && end - (page.closed ? 1 : 0) === last + 1) yield exit(++last)
  if (page.closed && end === last + 1) yield { type: 'closed', seq: ++last }
  if (end > last) throw new Error(`events ${last + 1} to ${end} are no longer kept`)
}
