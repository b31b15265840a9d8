import { Segment } from './segment.ts'
import type { SpillFile } from './spill-file.ts'

export interface LogStoreOptions {
  /** Where logs overflow to. Throws if there is no such place; what does not fit in memory is then dropped and counted. */
  readonly createSpillFile: () => SpillFile
  /** Kept of one process, in memory and on disk together. */
  readonly quotaBytes: number
  /** Kept on disk of all processes together. */
  readonly diskBytes: number
  /** Kept in memory of all processes together; each may always hold a little, however many there are. */
  readonly memoryBytes: number
  /** How long a child may be held back for a reader that is behind. */
  readonly patienceMs: number
  /** Told once that output had to be dropped because the disk failed, and why. */
  readonly onLoss: (cause: unknown) => void
}

export const defaultLogOptions = {
  quotaBytes: 256 * 1024 * 1024,
  diskBytes: 1024 * 1024 * 1024,
  memoryBytes: 32 * 1024 * 1024,
  patienceMs: 25,
} as const

/** A log, as far as sharing memory and disk with others goes. */
export interface StoredLog {
  readonly diskBytes: number
  /** Drops the oldest segment that is on disk; false if there is none. */
  dropOldestOnDisk(): boolean
  /** Drops everything that is on disk, and the file with it: called on logs that have ended, oldest first. */
  dropFile(): void
  /** Moves everything to disk: called on logs that have ended, oldest first. Never rejects. */
  spillAll(): Promise<void>
}

const POOLED_BUFFERS = 4
/** Ended logs on their way to disk at a time, when memory is tight. */
const RELIEF_WIDTH = 4
/** What producers have handed over is garbage then; after so much of it the collector is reminded. */
const GARBAGE_BYTES = 32 * 1024 * 1024
/** Producers that go on in one turn of the event loop, when memory is tight. */
const TURN_WIDTH = 4

/** What the logs of one server share: buffers, a memory budget, a disk budget. */
export class LogStore {
  readonly options: LogStoreOptions
  readonly #running = new Set<StoredLog>()
  /** In the order in which they ended. */
  readonly #ended = new Set<StoredLog>()
  /** Those of them that are still in memory. */
  readonly #endedInMemory = new Set<StoredLog>()
  readonly #pool: Uint8Array[] = []
  #memory = 0
  #disk = 0
  #garbage = 0
  #relieving = 0
  readonly #waitingForTurn: (() => void)[] = []
  #lossReported = false

  constructor(options: LogStoreOptions) {
    this.options = options
  }

  get memoryBytes(): number {
    return this.#memory
  }

  get diskBytes(): number {
    return this.#disk
  }

  get memoryIsTight(): boolean {
    return this.#memory > this.options.memoryBytes
  }

  add(log: StoredLog): void {
    this.#running.add(log)
  }

  remove(log: StoredLog): void {
    this.#running.delete(log)
    this.#ended.delete(log)
    this.#endedInMemory.delete(log)
  }

  /** The log has had its last event. From now on it goes to disk when memory gets tight, and off it when that is full. */
  ended(log: StoredLog): void {
    this.#running.delete(log)
    this.#ended.add(log)
    this.#endedInMemory.add(log)
    this.#relieveMemory()
  }

  countMemory(bytes: number): void {
    this.#memory += bytes
    if (bytes > 0) this.#relieveMemory()
  }

  /** A producer has handed over so much, which the log has copied. */
  countInput(bytes: number): void {
    if (!this.memoryIsTight) return
    this.#garbage += bytes
    if (this.#garbage < GARBAGE_BYTES) return
    this.#garbage = 0
    // Left to itself it lets hundreds of megabytes pile up. This only asks, and takes no time.
    Bun.gc(false)
  }

  countDisk(bytes: number): void {
    this.#disk += bytes
    if (bytes <= 0) return
    for (const log of this.#ended) {
      if (this.#disk <= this.options.diskBytes) return
      if (log.diskBytes > 0) log.dropFile()
    }
    // Then whoever holds most gives, so that one flood does not cost another process its output. One that is being read
    // from gives later: space is freed when the reading ends.
    let largest: StoredLog | undefined
    for (const log of this.#running) if (log.diskBytes > (largest?.diskBytes ?? 0)) largest = log
    for (let freed = true; freed && this.#disk > this.options.diskBytes; ) freed = largest?.dropOldestOnDisk() ?? false
  }

  /** A buffer for a full segment. */
  takeBuffer(): Uint8Array {
    return this.#pool.pop() ?? new Uint8Array(Segment.slotBytes)
  }

  /** Full buffers are used again: the collector is in no hurry to return such blocks to the system. */
  giveBuffer(buffer: Uint8Array): void {
    if (buffer.length === Segment.slotBytes && this.#pool.length < POOLED_BUFFERS) this.#pool.push(buffer)
  }

  /**
   * When memory is tight producers take turns, a few at a time, so that a flood of floods neither piles up in memory
   * nor keeps the server from everything else. Undefined if there is no need to.
   */
  turn(): Promise<void> | undefined {
    if (!this.memoryIsTight) return undefined
    return new Promise((resolve) => {
      if (this.#waitingForTurn.push(resolve) === 1) setImmediate(() => this.#nextTurn())
    })
  }

  createSpillFile(): SpillFile {
    return this.options.createSpillFile()
  }

  reportLoss(cause: unknown): void {
    if (this.#lossReported) return
    this.#lossReported = true
    this.options.onLoss(cause)
  }

  #nextTurn(): void {
    for (const goOn of this.#waitingForTurn.splice(0, TURN_WIDTH)) goOn()
    if (this.#waitingForTurn.length > 0) setImmediate(() => this.#nextTurn())
  }

  #relieveMemory(): void {
    while (this.memoryIsTight && this.#relieving < RELIEF_WIDTH) {
      const [oldest] = this.#endedInMemory
      if (!oldest) return
      this.#endedInMemory.delete(oldest)
      this.#relieving++
      void oldest.spillAll().then(() => {
        this.#relieving--
        this.#relieveMemory()
      })
    }
  }
}
