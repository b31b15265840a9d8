import { type Environment, ExecError, type StartOptions } from '@waldo/environment'
import type { ExecOutput, ExecResult } from '../output/exec-output.ts'
import { HeadTailBuffer } from '../output/head-tail-buffer.ts'
import { decodeLossy } from '../output/utf8.ts'

export interface OnceOptions extends StartOptions {
  readonly timeoutMs: number
  readonly onOutput?: ((stream: 'stdout' | 'stderr' | 'pty', data: Uint8Array) => void) | undefined
  readonly now: () => number
}

const TIMEOUT_EXIT_CODE = 124
/** Output that somebody else holds open after the end is not waited for longer. */
const DRAIN_MS = 2000

/** Runs a command to its end, or to the end of its time. Whatever comes of it is a result. */
export async function runOnce(
  environment: Environment,
  argv: readonly string[],
  options: OnceOptions,
): Promise<ExecResult> {
  const { timeoutMs, onOutput, now, ...startOptions } = options
  const start = now()
  const buffers = { stdout: new HeadTailBuffer(), stderr: new HeadTailBuffer(), all: new HeadTailBuffer() }
  const output = (exitCode: number, timedOut: boolean): ExecOutput => ({
    exitCode,
    stdout: decodeLossy(buffers.stdout.markedBytes()),
    stderr: decodeLossy(buffers.stderr.markedBytes()),
    aggregated: decodeLossy(buffers.all.markedBytes()),
    durationMs: now() - start,
    timedOut,
  })
  const ended = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  let timedOut = false
  let exit: { readonly exitCode: number; readonly sandboxDenied: boolean } | undefined
  try {
    const process = await environment.processes.start(argv, startOptions)
    timer = setTimeout(() => {
      timedOut = true
      process.terminate().catch((error) => ended.abort(error))
    }, timeoutMs)
    startOptions.signal?.addEventListener(
      'abort',
      () => void process.terminate().catch((error) => ended.abort(error)),
      {
        signal: ended.signal,
      },
    )
    for await (const event of process.events({ signal: ended.signal })) {
      if (event.type === 'output') {
        buffers[event.stream === 'stderr' ? 'stderr' : 'stdout'].push(event.data)
        buffers.all.push(event.data)
        onOutput?.(event.stream, event.data)
      } else if (event.type === 'exited') {
        exit = event
        clearTimeout(timer)
        timer = setTimeout(() => ended.abort(), DRAIN_MS)
      }
    }
  } catch (error) {
    if (!exit)
      return {
        kind: 'failed',
        failure: { kind: 'other', error: ExecError.is(error) ? error : new Error(String(error)) },
      }
  } finally {
    clearTimeout(timer)
    ended.abort()
  }
  if (timedOut) return { kind: 'failed', failure: { kind: 'timed-out', output: output(TIMEOUT_EXIT_CODE, true) } }
  const finished = output(exit?.exitCode ?? -1, false)
  if (exit?.sandboxDenied) return { kind: 'failed', failure: { kind: 'denied', output: finished } }
  return { kind: 'finished', output: finished }
}
