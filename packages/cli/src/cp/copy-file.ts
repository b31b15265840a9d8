import { ExecError } from '@waldo/environment'
import { explain } from '../explain.ts'
import { type CopyPlace, show } from './copy-place.ts'
import type { Progress } from './progress.ts'

export interface CopyOptions {
  readonly progress: Progress
  readonly signal: AbortSignal
}

/** One file, whole or not at all. */
export async function copyFile(from: CopyPlace, to: CopyPlace, options: CopyOptions): Promise<void> {
  const mode = await modeOf(from, options)
  await pump(readFrom(from, options), writeTo(to, options, mode), options).catch((error) => {
    throw explain(error, `${show(from)} → ${show(to)}`)
  })
  await setMode(to, mode, options)
  options.progress.fileDone()
}

export function readFrom({ chosen, path }: CopyPlace, { signal }: CopyOptions): ReadableStream<Uint8Array> {
  return chosen.environment.files.readStream(path, { signal })
}

/** With a mode, nobody gets to see it meanwhile who is not to see it in the end. */
export function writeTo(
  { chosen, path }: CopyPlace,
  { signal }: CopyOptions,
  mode?: number,
): WritableStream<Uint8Array> {
  return chosen.environment.files.writeStream(path, { signal, ...(mode !== undefined && { mode }) })
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

/** Undefined if the executor does not tell: then the copy gets what is usual where it goes. */
export async function modeOf({ chosen, path }: CopyPlace, { signal }: CopyOptions): Promise<number | undefined> {
  try {
    return (await chosen.environment.files.metadata(path, { signal })).mode
  } catch (error) {
    if (ExecError.is(error, 'FILE_NOT_FOUND')) return undefined // Whoever reads it will say so.
    throw error
  }
}

export async function setMode(to: CopyPlace, mode: number | undefined, { signal }: CopyOptions): Promise<void> {
  const { environment } = to.chosen
  const { capabilities } = await environment.info({ signal })
  if (mode === undefined || !capabilities?.fsSetMode) return
  await environment.files.setMode(to.path, mode & 0o777, { signal }).catch((error) => {
    throw explain(error, `the mode of ${show(to)}`)
  })
}
