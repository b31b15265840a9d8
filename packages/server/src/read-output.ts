import type { OutputLog } from '@waldo/local'
import type { OutputStream, ProcessExit, ProcessReadParams, ProcessReadResult } from '@waldo/protocol'
import type { LargeAnswers } from './large-answers.ts'

/** What one answer holds at most, in bytes of output. In base64 it fits a frame that every client accepts. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
/** …and in chunks, which may be empty. */
const MAX_ANSWER_CHUNKS = 50_000
/** Timers cannot wait longer; nobody does. */
const MAX_TIMER_MS = 2 ** 31 - 1

export interface ReadContext {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** Sees to it that there are not too many large answers at a time. */
  readonly answers: LargeAnswers
}

/** Waits for something to read if the client wants to, and collects it. */
export async function readOutput(
  log: OutputLog,
  { afterSeq = 0, maxBytes, waitMs = 0 }: ProcessReadParams,
  { signal, answers }: ReadContext,
): Promise<ProcessReadResult> {
  const deadline = performance.now() + waitMs
  // Beyond the last event there is nothing that could have been read: it is a question for the end.
  if (afterSeq < log.nextSeq) log.confirmRead(afterSeq)
  for (;;) {
    const result = await answers.within(MAX_ANSWER_BYTES, () => collect(log, afterSeq, maxBytes))
    const news = result.chunks.length > 0 || result.closed || (result.exited && afterSeq < result.nextSeq - 1)
    const left = deadline - performance.now()
    if (news || left <= 0 || signal.aborted) return result
    await nextEvent(log, result.nextSeq, left, signal)
  }
}

/**
 * Without `maxBytes` the answer stands for everything up to `nextSeq`. If that is more than one answer can hold, it
 * tells how things were at the last event that fits; the rest follows as notifications.
 */
async function collect(log: OutputLog, afterSeq: number, maxBytes: number | undefined): Promise<ProcessReadResult> {
  const chunks: ProcessReadResult['chunks'] = []
  const cursor = log.cursor(afterSeq)
  const limit = Math.min(maxBytes ?? MAX_ANSWER_BYTES, MAX_ANSWER_BYTES)
  let bytes = 0
  let full = false
  // What comes after this moment is for the next read, however long the disk takes.
  const end = log.nextSeq
  while (cursor.seq < end) {
    const event = cursor.peek()
    if (event instanceof Promise) {
      await event
      continue
    }
    if (!event) break
    if (event.kind !== 'exited' && event.kind !== 'closed') {
      full = chunks.length > 0 && (bytes + event.data.length > limit || chunks.length >= MAX_ANSWER_CHUNKS)
      if (full) break
      bytes += event.data.length
      const { seq, kind, data, droppedBytes } = event
      const chunk = { seq, stream: kind as OutputStream, chunk: data.toBase64() }
      chunks.push(droppedBytes > 0 ? { ...chunk, droppedBytes } : chunk)
    }
    cursor.advance(event)
  }
  const paged = maxBytes !== undefined
  const nextSeq = paged && chunks.length > 0 ? chunks[chunks.length - 1]!.seq + 1 : full ? cursor.seq : end
  // A page says how the process is now; an answer that stands for everything must agree with itself.
  const { exit } = log
  const exited = exit !== undefined && (paged || exit.seq < nextSeq)
  return {
    chunks,
    nextSeq,
    exited,
    exitCode: exited ? exit.code : null,
    closed: log.closedSeq !== undefined && (paged || log.closedSeq < nextSeq),
    failure: null,
    ...sandboxVerdict(exited ? exit : undefined),
    ...(log.droppedBytes > 0 && { droppedBytes: log.droppedBytes }),
  }
}

/** What the end of a process says beyond its code; the same in an answer and in an event. */
export function sandboxVerdict(
  exit: ProcessExit | undefined,
): Pick<ProcessReadResult, 'sandboxDenied' | 'sandboxDenials' | 'sandboxFailed' | 'limitHit'> {
  const { sandboxDenied = false, sandboxDenials, sandboxFailed, limitHit } = exit ?? {}
  return {
    sandboxDenied,
    ...(sandboxDenials && { sandboxDenials }),
    ...(sandboxFailed && { sandboxFailed }),
    ...(limitHit && { limitHit }),
  }
}

/** Resolves when there is an event from `seq` on, when the time is up, or when the connection is gone. */
function nextEvent(log: OutputLog, seq: number, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stopListening()
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const stopListening = log.onEvent(() => {
      if (log.nextSeq > seq) done()
    })
    const timer = ms > MAX_TIMER_MS ? undefined : setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    // Something may have come while the answer was being collected.
    if (log.nextSeq > seq) done()
  })
}
