import assert from 'node:assert/strict'
import type { ProcessEvent } from '@waldo/environment'
import { ExecError, type ExecErrorCode } from '@waldo/environment'

export async function all<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}

export async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.from(await new Response(stream).arrayBuffer())
}

/** What was said on one stream, or on all. */
export function said(events: readonly ProcessEvent[], stream?: string): string {
  const parts = events.flatMap((event) =>
    event.type === 'output' && (stream === undefined || event.stream === stream) ? [event.data] : [],
  )
  return Buffer.concat(parts).toString()
}

/** Asserts that it fails with this code, and returns how. */
export async function fails(promise: Promise<unknown>, ...codes: ExecErrorCode[]): Promise<ExecError> {
  const error = await promise.then(
    (value) => assert.fail(`it was expected to fail with ${codes}, but gave ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  if (ExecError.is(error) && codes.includes(error.code)) return error
  throw error
}

/** Asserts that giving up by a signal is answered with the signal's own reason. */
export async function givesUp(start: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const reason = new Error('given up')
  const controller = new AbortController()
  const pending = start(controller.signal)
  queueMicrotask(() => controller.abort(reason))
  await assert.rejects(pending, (error) => error === reason)
  await assert.rejects(start(AbortSignal.abort(reason)), (error) => error === reason)
}

const PATIENCE_MS = 45_000

/** Resolves when the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`waited in vain: ${condition}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
