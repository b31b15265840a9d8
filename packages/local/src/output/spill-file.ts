import { close, closeSync, constants, open, openSync, read, unlink, write, writeSync } from 'node:fs'
import { punchHole } from '../libc.ts'

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW

/** The part of one log that is on disk: a private file of equal slots, opened when it is first needed. */
export class SpillFile {
  readonly #path: string
  readonly #slotBytes: number
  readonly #free: number[] = []
  #slots = 0
  #fd: Promise<number> | undefined
  #users = 0
  #idle = false
  #removed = false

  constructor(path: string, slotBytes: number) {
    this.#path = path
    this.#slotBytes = slotBytes
  }

  /** Returns the slot that now holds the data. */
  async write(data: Uint8Array): Promise<number> {
    const slot = this.#free.pop() ?? this.#slots++
    try {
      await this.#use(async (fd) => {
        let done = 0
        while (done < data.length) {
          // A full disk may take a part of it; the rest then fails with ENOSPC.
          done += await writeAt(fd, data.subarray(done), slot * this.#slotBytes + done)
        }
      })
    } catch (error) {
      this.#free.push(slot)
      throw error
    }
    return slot
  }

  /** The same while everybody waits: for what would be lost otherwise. */
  writeNow(data: Uint8Array): number {
    if (this.#removed) throw new Error('the output has been removed')
    const slot = this.#free.pop() ?? this.#slots++
    try {
      const fd = openSync(this.#path, FLAGS, 0o600)
      try {
        for (let done = 0; done < data.length; ) {
          done += writeSync(fd, data, done, data.length - done, slot * this.#slotBytes + done)
        }
      } finally {
        closeSync(fd)
      }
    } catch (error) {
      this.#free.push(slot)
      throw error
    }
    return slot
  }

  async read(slot: number, into: Uint8Array): Promise<void> {
    await this.#use(async (fd) => {
      let done = 0
      while (done < into.length) {
        const count = await readAt(fd, into.subarray(done), slot * this.#slotBytes + done)
        if (count === 0) throw new Error(`output file ${this.#path} ends early: somebody has truncated it`)
        done += count
      }
    })
  }

  /** The slot may be used again. `returned`: by others too, because the disk is getting full. */
  free(slot: number, returned: boolean): void {
    this.#free.push(slot)
    if (!returned) return
    // Whoever has written to the slot by then has it no longer free.
    const punch = async (fd: number) => {
      if (this.#free.includes(slot)) punchHole(fd, slot * this.#slotBytes, this.#slotBytes)
    }
    this.#use(punch).catch(() => {})
  }

  /** Closes the descriptor as soon as nobody uses it; the next use opens it again. */
  rest(): void {
    this.#idle = true
    this.#closeIfUnused()
  }

  remove(): void {
    if (this.#removed) return
    this.#removed = true
    this.rest()
    // A file that is missing is what we want; one that cannot be removed is swept at the next start.
    if (this.#slots > 0) unlink(this.#path, () => {})
  }

  async #use<T>(operation: (fd: number) => Promise<T>): Promise<T> {
    if (this.#removed) throw new Error('the output has been removed')
    this.#users++
    try {
      return await operation(await this.#open())
    } finally {
      this.#users--
      this.#closeIfUnused()
    }
  }

  #open(): Promise<number> {
    this.#fd ??= new Promise((resolve, reject) => {
      open(this.#path, FLAGS, 0o600, (error, fd) => {
        if (!error) return resolve(fd)
        this.#fd = undefined
        reject(error)
      })
    })
    return this.#fd
  }

  #closeIfUnused(): void {
    const fd = this.#fd
    if (!this.#idle || this.#users > 0 || !fd) return
    this.#fd = undefined
    void fd.then(
      (opened) => close(opened, () => {}),
      () => {},
    )
  }
}

function writeAt(fd: number, data: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, data, 0, data.length, position, (error, count) => (error ? reject(error) : resolve(count)))
  })
}

function readAt(fd: number, into: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, count) => (error ? reject(error) : resolve(count)))
  })
}
