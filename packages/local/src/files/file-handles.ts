import { closeSync, fstatSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import { limits } from '@waldo/protocol'
import { readCached } from './file-calls.ts'
import { fileError, invalid, systemError } from './file-error.ts'
import type { NativePath } from './native-path.ts'
import { openForReading, readInto } from './read-file.ts'
import { Replacement } from './replacement.ts'
import { writeFully } from './write-fully.ts'

type Handle = { readonly path: NativePath; busy: Promise<unknown> | undefined } & (
  | { readonly mode: 'read'; readonly fd: number }
  | { readonly mode: 'replace'; readonly replacement: Replacement }
)

interface OpenOptions {
  readonly createMode?: number | undefined
  readonly followSymlinks?: boolean
}

/** The files that one connection has open. Closing them all leaves no half-written file behind. */
export class FileHandles {
  readonly #handles = new Map<string, Handle>()

  has(id: string): boolean {
    return this.#handles.has(id)
  }

  /** `createMode` is for a file that does not exist yet. */
  open(
    id: string,
    path: NativePath,
    mode: 'read' | 'replace',
    { createMode = 0o666, followSymlinks = true }: OpenOptions = {},
  ): void {
    if (Buffer.byteLength(id) > limits.fileHandleIdBytes) {
      throw invalid(`file handle ID must not exceed ${limits.fileHandleIdBytes} bytes`)
    }
    if (this.#handles.has(id)) throw invalid(`file handle \`${id}\` already exists`)
    if (this.#handles.size >= limits.fileHandles) {
      throw invalid(`at most ${limits.fileHandles} file handles may be open per connection`)
    }
    const opened =
      mode === 'read'
        ? { mode, fd: openForReading(path, { followSymlinks }).fd }
        : { mode, replacement: Replacement.open(path, { mode: createMode, followSymlinks }) }
    this.#handles.set(id, { ...opened, path, busy: undefined })
  }

  /** Fewer bytes than asked for mean that the file ends there. An error of the system closes the handle. */
  readBlock(id: string, offset: number, length: number): Uint8Array | Promise<Uint8Array> {
    if (length < 1 || length > limits.fileBlockBytes) {
      throw invalid(`file read block length must be between 1 and ${limits.fileBlockBytes}`)
    }
    const handle = this.#find(id)
    if (handle.mode !== 'read') {
      this.#drop(id, handle)
      throw systemError('EBADF', handle.path)
    }
    const block = Buffer.allocUnsafe(length)
    // Offsets beyond what a file can have are beyond its end.
    if (offset > Number.MAX_SAFE_INTEGER) return block.subarray(0, 0)
    const cached = readCached(handle.fd, block, offset) ?? 0
    // Less than was asked for is the end of the file, or the end of what is in memory.
    if (cached === length || (cached > 0 && offset + cached === fstatSync(handle.fd).size))
      return block.subarray(0, cached)
    return this.#whileOpen(handle, readRest(handle.fd, block, offset, cached)).catch((error) => {
      this.#drop(id, handle)
      throw fileError(error, handle.path)
    })
  }

  writeBlock(id: string, offset: number, block: Uint8Array): Promise<void> {
    if (block.length < 1 || block.length > limits.fileBlockBytes) {
      throw invalid(`file write block length must be between 1 and ${limits.fileBlockBytes}`)
    }
    const handle = this.#find(id)
    if (handle.mode !== 'replace') throw systemError('EBADF', handle.path)
    if (offset > Number.MAX_SAFE_INTEGER) throw systemError('EFBIG', handle.path)
    return this.#whileOpen(handle, writeFully(handle.replacement.fd, block, offset)).catch((error) => {
      throw fileError(error, handle.path)
    })
  }

  /** What was written takes effect now. Unknown ids are closed already. */
  close(id: string): undefined | Promise<void> {
    const handle = this.#handles.get(id)
    if (!handle) return undefined
    this.#handles.delete(id)
    return handle.busy ? handle.busy.then(() => release(handle)) : release(handle)
  }

  /** The connection is gone: what was not closed keeps its old content. */
  closeAll(): void {
    for (const [id, handle] of this.#handles) this.#drop(id, handle)
  }

  #find(id: string): Handle {
    const handle = this.#handles.get(id)
    if (!handle) throw new ExecError('FILE_NOT_FOUND', `unknown file handle \`${id.slice(0, 100)}\``)
    return handle
  }

  #drop(id: string, handle: Handle): void {
    this.#handles.delete(id)
    if (handle.busy) void handle.busy.then(() => drop(handle))
    else drop(handle)
  }

  /** The descriptor must not be closed, and its number given to another file, while the system still uses it. */
  #whileOpen<T>(handle: Handle, work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => {},
      () => {},
    )
    const all = handle.busy ? Promise.all([handle.busy, settled]) : settled
    handle.busy = all
    void all.then(() => {
      if (handle.busy === all) handle.busy = undefined
    })
    return work
  }
}

async function readRest(fd: number, block: Buffer, offset: number, done: number): Promise<Uint8Array> {
  let length = done
  while (length < block.length) {
    const read = await readInto(fd, block.subarray(length), offset + length)
    if (read === 0) break
    length += read
  }
  return block.subarray(0, length)
}

function release(handle: Handle): undefined | Promise<void> {
  if (handle.mode === 'replace') return handle.replacement.commit()
  closeSync(handle.fd)
  return undefined
}

/** What was written is forgotten. */
function drop(handle: Handle): void {
  if (handle.mode === 'replace') handle.replacement.discard()
  else closeSync(handle.fd)
}
