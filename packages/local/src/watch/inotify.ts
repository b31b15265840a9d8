import { getSystemErrorName } from 'node:util'
import type { ByteString } from '../byte-string.ts'

/** For the whole server. Beyond this, and beyond what the system allows, `watchInode` throws ENOSPC. */
const MAX_WATCHES = 65_536

export const IN = {
  MODIFY: 0x2,
  ATTRIB: 0x4,
  CLOSE_WRITE: 0x8,
  MOVED_FROM: 0x40,
  MOVED_TO: 0x80,
  CREATE: 0x100,
  DELETE: 0x200,
  UNMOUNT: 0x2000,
  /** Events were lost, of anything. Every owner is told. */
  Q_OVERFLOW: 0x4000,
  /** The watch has ended, because what it watched is no more. */
  IGNORED: 0x8000,
  ONLYDIR: 0x1000000,
  DONT_FOLLOW: 0x2000000,
  EXCL_UNLINK: 0x4000000,
  ISDIR: 0x40000000,
} as const
/** Two watches of an inode are one to the system: the second adds to what the first asked for. */
const MASK_ADD = 0x20000000
const UNASKED = IN.UNMOUNT | IN.Q_OVERFLOW | IN.IGNORED
const NONBLOCK_CLOEXEC = 0o4000 | 0o2000000
const HEADER_BYTES = 16

/** Told what happens to an inode, or, if it is a directory, to the entry `name` in it. May add and close watches. */
export interface InodeOwner {
  onEvent(mask: number, name: ByteString): void
}

export interface InodeWatch {
  /** True if both watch the same inode, and neither has ended: a path that was replaced leads to a different one. */
  same(other: InodeWatch): boolean
  close(): void
}

/** Undefined where there is no inotify. */
export const watchInode = process.platform === 'linux' ? watch : undefined

/** The one descriptor of this server: opened with the first watch, closed with the last. */
let opened: Inotify | undefined

/** Throws an error with the `code` that the system gives. */
function watch(path: ByteString, mask: number, owner: InodeOwner): InodeWatch {
  opened ??= new Inotify()
  return opened.add(path, mask, owner)
}

class Watch implements InodeWatch {
  readonly #inotify: Inotify
  readonly wd: number
  readonly mask: number
  readonly owner: InodeOwner

  constructor(inotify: Inotify, wd: number, mask: number, owner: InodeOwner) {
    this.#inotify = inotify
    this.wd = wd
    this.mask = mask
    this.owner = owner
  }

  same(other: Watch): boolean {
    // The system never gives a number twice, so an ended watch equals no new one.
    return this.#inotify === other.#inotify && this.wd === other.wd
  }

  close(): void {
    this.#inotify.remove(this)
  }
}

class Inotify {
  readonly #fd: number
  readonly #reader
  readonly #watches = new Map<number, Set<Watch>>()
  #rest: Uint8Array = new Uint8Array()
  /** Why nothing can be read any more. Whoever asks for a watch is told, until the last one is closed. */
  #failure: Error | undefined

  constructor() {
    this.#fd = library().inotify_init1(NONBLOCK_CLOEXEC)
    if (this.#fd < 0) throw lastError('cannot watch anything')
    // The stream waits with epoll, on a duplicate that is its own to close. It occupies none of the threads that read
    // files. It never reads into less than 16 KiB, where an event that does not fit would be an error.
    this.#reader = Bun.file(this.#fd).stream().getReader()
    void this.#readAll()
  }

  add(path: ByteString, mask: number, owner: InodeOwner): Watch {
    if (this.#failure) throw withCode('EIO', 'watching has failed', this.#failure)
    const wd = library().inotify_add_watch(this.#fd, Buffer.from(`${path}\0`, 'latin1'), mask | MASK_ADD)
    if (wd < 0) {
      const error = lastError('cannot watch')
      this.#closeIfUnused()
      throw error
    }
    const known = this.#watches.get(wd)
    if (!known && this.#watches.size >= MAX_WATCHES) {
      library().inotify_rm_watch(this.#fd, wd)
      throw withCode('ENOSPC', `${MAX_WATCHES} directories are watched already`)
    }
    const added = new Watch(this, wd, mask, owner)
    this.#watches.set(wd, (known ?? new Set()).add(added))
    return added
  }

  remove(watch: Watch): void {
    const watches = this.#watches.get(watch.wd)
    if (!watches?.delete(watch) || watches.size > 0) return
    this.#watches.delete(watch.wd)
    library().inotify_rm_watch(this.#fd, watch.wd)
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (this.#watches.size > 0 || opened !== this) return
    opened = undefined
    library().close(this.#fd)
    // Settles the read that is under way. That nothing could be closed helps nobody to know.
    this.#reader.cancel().catch(() => {})
  }

  async #readAll(): Promise<void> {
    for (;;) {
      const chunk = await this.#reader.read().then(
        ({ value }) => value ?? new Error('inotify has ended'),
        (error: Error) => error,
      )
      if (opened !== this) return
      if (chunk instanceof Error) {
        this.#failure = chunk
        this.#lose()
        return
      }
      this.#dispatch(chunk)
    }
  }

  #dispatch(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#rest, chunk])
    let at = 0
    while (at + HEADER_BYTES <= bytes.length) {
      const [wd, mask] = [bytes.readInt32LE(at), bytes.readUInt32LE(at + 4)]
      const nameAt = at + HEADER_BYTES
      const end = nameAt + bytes.readUInt32LE(at + 12)
      if (end > bytes.length) break
      const zero = bytes.indexOf(0, nameAt)
      const name = end === nameAt ? '' : bytes.toString('latin1', nameAt, zero < 0 ? end : Math.min(zero, end))
      at = end
      if (mask & IN.Q_OVERFLOW) this.#lose()
      else this.#tell(wd, mask, name)
    }
    this.#rest = bytes.subarray(at)
  }

  #tell(wd: number, mask: number, name: ByteString): void {
    // None if the watch was closed while the event was under way.
    const watches = [...(this.#watches.get(wd) ?? [])]
    if (mask & IN.IGNORED) this.#watches.delete(wd)
    for (const { mask: wanted, owner } of watches) if (mask & (wanted | UNASKED)) owner.onEvent(mask, name)
    this.#closeIfUnused()
  }

  #lose(): void {
    const all = [...this.#watches.values()].flatMap((watches) => [...watches])
    for (const { owner } of all) owner.onEvent(IN.Q_OVERFLOW, '')
  }
}

let symbols: ReturnType<typeof openLibrary> | undefined

function library() {
  symbols ??= openLibrary()
  return symbols
}

function openLibrary() {
  const { dlopen, toArrayBuffer } = require('bun:ffi') as typeof import('bun:ffi')
  const [i32, u32, pointer] = ['i32', 'u32', 'ptr'] as const
  const { symbols } = dlopen('libc.so.6', {
    inotify_init1: { args: [i32], returns: i32 },
    inotify_add_watch: { args: [i32, pointer, u32], returns: i32 },
    inotify_rm_watch: { args: [i32, i32], returns: i32 },
    close: { args: [i32], returns: i32 },
    __errno_location: { args: [], returns: pointer },
  })
  return { ...symbols, errno: new Int32Array(toArrayBuffer(symbols.__errno_location()!, 0, 4)) }
}

/** To be called right after the call that failed. Reads from a copy, because the optimizer does not see C write. */
function lastError(message: string): Error {
  const [errno] = library().errno.slice()
  return withCode(getSystemErrorName(-errno!), message)
}

function withCode(code: string, message: string, cause?: Error): Error {
  return Object.assign(new Error(`${message}: ${code}`, { cause }), { code })
}
