import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

const MFD_CLOEXEC = 1
const name = Buffer.from('waldo\0')

let library: ReturnType<typeof open> | undefined

/** A file without a name that lives in memory, and is not inherited. Others are handed descriptors of their own. */
export class MemoryFile {
  readonly #fd: number

  constructor(content: Uint8Array = new Uint8Array()) {
    library ??= open()
    this.#fd = library.memfd_create(name, MFD_CLOEXEC)
    if (this.#fd < 0) throw Object.assign(new Error('cannot create a file in memory'), { code: 'EMFILE' })
    for (let at = 0; at < content.length; ) at += writeSync(this.#fd, content, at, content.length - at, at)
  }

  /** A descriptor at the start of the file, to be closed by whoever asked for it. */
  open(flags: 'r' | 'a'): number {
    return openSync(`/proc/self/fd/${this.#fd}`, flags)
  }

  text(): string {
    const bytes = Buffer.alloc(fstatSync(this.#fd).size)
    readSync(this.#fd, bytes, 0, bytes.length, 0)
    return bytes.toString()
  }

  close(): void {
    closeSync(this.#fd)
  }
}

function open() {
  const { dlopen } = require('bun:ffi') as typeof import('bun:ffi')
  return dlopen('libc.so.6', { memfd_create: { args: ['cstring', 'i32'], returns: 'i32' } } as const).symbols
}
