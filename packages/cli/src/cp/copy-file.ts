import { stat } from 'node:fs/promises'
import { toPosixPath } from '@waldo/protocol'
import { explain } from '../explain.ts'
import { type CopyPlace, show } from './copy-place.ts'
import type { Progress } from './progress.ts'

export interface CopyOptions {
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** One file, whole or not at all. */
export async function copyFile(from: CopyPlace, to: CopyPlace, options: CopyOptions): Promise<void> {
  await pump(readFrom(from, options), writeTo(to, options), options).catch((error) => {
    throw explain(error, `${show(from)} → ${show(to)}`)
  })
  await copyMode(from, to, options)
  options.progress.fileDone()
}

export function readFrom({ chosen, path }: CopyPlace, { signal }: CopyOptions): ReadableStream<Uint8Array> {
  return chosen.environment.files.readStream(path, { signal })
}

export function writeTo({ chosen, path }: CopyPlace, { signal }: CopyOptions): WritableStream<Uint8Array> {
  return chosen.environment.files.writeStream(path, { signal })
}

/** As fast as it is taken. If either side fails, the other is told, and leaves what was there before. */
export async function pump(
  source: ReadableStream<Uint8Array>,
  target: WritableStream<Uint8Array>,
  { progress, signal }: CopyOptions,
): Promise<void> {
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      progress.moved(chunk.length)
      controller.enqueue(chunk)
    },
  })
  await source.pipeThrough(counter).pipeTo(target, { signal })
}

/** Executors do not tell modes: what comes from one gets what is usual where it goes. */
export async function copyMode(from: CopyPlace, to: CopyPlace, { signal }: CopyOptions): Promise<void> {
  if (!from.chosen.isLocal) return
  const { environment } = to.chosen
  const { capabilities } = await environment.info({ signal })
  if (!capabilities?.fsSetMode) return
  // Gone meanwhile: the copy is what is left of it.
  const found = await stat(toPosixPath(from.path) as string).catch(() => undefined)
  if (!found) return
  await environment.files.setMode(to.path, found.mode & 0o777, { signal }).catch((error) => {
    throw explain(error, `the mode of ${show(to)}`)
  })
}
