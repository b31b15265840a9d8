import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { fileError } from './file-error.ts'
import type { NativePath } from './native-path.ts'
import { openNoFollow } from './no-symlinks.ts'
import { Replacement } from './replacement.ts'
import { writeFully } from './write-fully.ts'

/** Written in one go: the system only copies it. Beyond it others have their turn meanwhile. */
const SHORT_BYTES = 128 * 1024

/** Creates a file or replaces its content, all at once. */
export function writeFile(
  path: NativePath,
  content: Uint8Array,
  options: { followSymlinks: boolean },
): undefined | Promise<void> {
  const replacement = Replacement.open(path, options)
  const finish = (error?: unknown) => {
    if (error === undefined) return replacement.commit()
    replacement.discard()
    throw fileError(error, path)
  }
  if (content.length > SHORT_BYTES) return writeFully(replacement.fd, content, null).then(() => finish(), finish)
  try {
    for (let written = 0; written < content.length; ) written += writeSync(replacement.fd, content, written)
  } catch (error) {
    return finish(error)
  }
  return finish()
}

/** Adds to the end of a file, or creates it. */
export function appendFile(
  path: NativePath,
  content: Uint8Array,
  { followSymlinks }: { followSymlinks: boolean },
): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK | constants.O_NOCTTY
  let fd: number
  try {
    fd = followSymlinks ? openSync(path, flags, 0o666) : openNoFollow(path, flags, 0o666)
  } catch (error) {
    throw fileError(error, path)
  }
  return writeFully(fd, content, null)
    .catch((error) => {
      throw fileError(error, path)
    })
    .finally(() => closeSync(fd))
}
