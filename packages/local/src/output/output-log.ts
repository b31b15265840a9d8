import type { OutputStream, ProcessExit } from '@waldo/protocol'
import type { LastOutput } from './last-output.ts'
import { LogCursor } from './log-cursor.ts'
import type { LogStore, StoredLog } from './log-store.ts'
import { Pacing } from './pacing.ts'
import { ReaderHold } from './reader-hold.ts'
import { Segment } from './segment.ts'
import type { SpillFile } from './spill-file.ts'

/** Small enough that one event does not hold up another process's for long. */
const MAX_EVENT_BYTES = 64 * 1024
/** Full segments of each process… */
const USUAL = {
  /** …that stay in memory for readers that are nearly up to date, */
  hot: 4,
  /** …that are on their way to disk at a time, */
  writes: 4,
  /** …and that may wait to go there before the producer has to wait too. */
  unwritten: 2,
}
/** The same when all processes together use more memory than they should. */
const TIGHT = { hot: 0, writes: 1, unwritten: 1 }
/**
 * What a producer that can wait has sent before it heard that it must is not more than this. A terminal cannot: beyond
 * this, and beyond less when memory is tight, its output goes to disk while everybody waits.
 */
const MOST_SEGMENTS = 32
const MOST_SEGMENTS_TIGHT = 4
/** A process that writes past its quota faster than anybody reads is slowed down to one segment in this time. */
const DROPPING_PAUSE_MS = 4

/** A run of events wherever it is: in memory, on disk, or dropped. */
export interface StoredSegment {
  readonly firstSeq: number
  count: number
  /** How many bytes of output came before it. */
  readonly startByte: number
  bytes: number
  /** Present while it is in memory. */
  memory: Segment | undefined
  /** Present once it is on disk. */
  disk: { slot: number; size: number } | undefined
  dropped: boolean
  /** Readers that are fetching it from disk just now: its slot must not be used again yet. */
  fetches: number
}

interface OutputLogOptions {
  readonly waits?: boolean
  readonly last?: LastOutput | undefined
}

/**
 * Everything a process has said, as numbered events: chunks of output, then `exited`, then `closed`. Producers append
 * and never wait for a particular reader; readers are cursors that go at their own pace. Recent events are in memory,
 * older ones in a file, the oldest beyond the quota are dropped, and how many bytes that was is known.
 */
export class OutputLog implements StoredLog {
  readonly #store: LogStore
  readonly #defaultStream: OutputStream
  readonly #pacing: Pacing
  readonly #hold: ReaderHold | undefined
  #last: LastOutput | undefined
  readonly #listeners = new Set<() => void>()
  readonly #followers = new Set<LogCursor>()
  /** Oldest first; the last one is open. No two dropped ones are neighbours: they become one. */
  readonly #segments: StoredSegment[] = []
  /** Those in memory and full, oldest first. */
  readonly #resident: StoredSegment[] = []
  #spill: SpillFile | undefined
  readonly #writing = new Map<Segment, Promise<void>>()
  #spillEverything = false
  #countedMemory = 0
  #storedBytes = 0
  #nextSeq = 1
  #shownSeq = 0
  #pauseOwed = false
  #discarded = false
  #outputBytes = 0
  #droppedBytes = 0
  #diskBytes = 0
  #exit: (ProcessExit & { seq: number }) | undefined
  #closedSeq: number | undefined

  /** `waits`: whether the producer waits for its reader rather than lose anything. `last` is told of all output. */
  constructor(store: LogStore, defaultStream: OutputStream, { waits = false, last }: OutputLogOptions = {}) {
    this.#store = store
    this.#hold = waits ? new ReaderHold() : undefined
    this.#defaultStream = defaultStream
    this.#last = last
    this.#pacing = new Pacing(store.options.patienceMs)
    this.#segments.push(this.#openSegment())
    store.add(this)
  }

  /** The sequence number that the next event will have. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  get outputBytes(): number {
    return this.#outputBytes
  }

  get droppedBytes(): number {
    return this.#droppedBytes
  }

  get diskBytes(): number {
    return this.#diskBytes
  }

  get exit(): (ProcessExit & { seq: number }) | undefined {
    return this.#exit
  }

  get closedSeq(): number | undefined {
    return this.#closedSeq
  }

  /** The stream that stands for dropped output, of which nobody knows any more what it was. */
  get defaultStream(): OutputStream {
    return this.#defaultStream
  }

  append(stream: OutputStream, data: Uint8Array): void {
    if (this.#closedSeq !== undefined || this.#discarded || data.length === 0) return
    for (let at = 0; at < data.length; ) {
      const tail = this.#tail()
      const segment = tail.memory!
      const last = segment.count - 1
      // An event that nobody has seen yet may grow: it saves messages, and terminals speak in small pieces.
      const grows = last >= 0 && this.#nextSeq - 1 > this.#shownSeq && segment.kindAt(last) === stream
      const space = MAX_EVENT_BYTES - (grows ? segment.sizeAt(last) : 0)
      const part = data.subarray(at, at + Math.min(space || MAX_EVENT_BYTES, segment.room))
      if (grows && space > 0) segment.extendLast(part)
      else this.#add(stream, part)
      at += part.length
      tail.bytes += part.length
      this.#outputBytes += part.length
      this.#storedBytes += part.length
    }
    this.#last?.push(data)
    this.#store.countInput(data.length)
    this.#countMemory()
    this.#enforceQuota()
    this.#notify()
  }

  markExited(exit: ProcessExit): void {
    if (this.#exit) return
    this.#hold?.release()
    this.#exit = { ...exit, seq: this.#nextSeq }
    this.#last = undefined
    this.#tail()
    this.#add('exited', NO_DATA)
    this.#notify()
  }

  /** After this nothing is appended any more. */
  markClosed(): void {
    if (this.#closedSeq !== undefined) return
    this.#closedSeq = this.#nextSeq
    this.#tail()
    this.#add('closed', NO_DATA)
    this.#pacing.release()
    this.#store.ended(this)
    this.#notify()
  }

  /** What a producer that can wait has to wait for before it appends more. */
  pressure(): Promise<void> | undefined {
    if (this.#pauseOwed) {
      this.#pauseOwed = false
      return Bun.sleep(DROPPING_PAUSE_MS)
    }
    const held = this.#hold?.hold(this.#outputBytes)
    if (held) return held
    const { hot, unwritten } = this.#limits()
    if (this.#writing.size > 0 && this.#resident.length > hot + unwritten) {
      return Promise.race(this.#writing.values())
    }
    return this.#pacing.hold(this.#lag()) ?? this.#store.turn()
  }

  cursor(afterSeq: number, byteOffset?: number): LogCursor {
    return new LogCursor(this, afterSeq, byteOffset)
  }

  /** Somebody has read everything up to and with this event. */
  confirmRead(seq: number): void {
    if (!this.#hold || seq < 1) return
    const bytes = seq + 1 >= this.#nextSeq ? this.#outputBytes : this.segmentOf(seq + 1).startByte
    this.#hold.read(bytes, this.#outputBytes)
  }

  /** Lets the cursor set the pace of the producer, within its patience. */
  follow(cursor: LogCursor): void {
    this.#followers.add(cursor)
  }

  unfollow(cursor: LogCursor): void {
    this.#followers.delete(cursor)
    this.#progress()
  }

  /** Called after every change, before anything else happens. Returns how to stop listening. */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The segment that holds or held the event; `seq` must have been given out. */
  segmentOf(seq: number): StoredSegment {
    return this.#segments[this.#indexOf(seq)]!
  }

  /** Reads a segment back from disk, for one cursor alone. Undefined if it was dropped meanwhile. */
  async fetch(stored: StoredSegment): Promise<Segment | undefined> {
    const { disk, count, firstSeq } = stored
    if (!disk || !this.#spill) return undefined
    stored.fetches++
    try {
      const buffer = this.#store.takeBuffer()
      await this.#spill.read(disk.slot, buffer.subarray(0, disk.size))
      return Segment.decode(firstSeq, count, buffer, disk.size)
    } catch (error) {
      // Unreadable is gone: say so to every reader alike instead of failing one of them again and again.
      if (!stored.dropped && !this.#discarded) this.#drop(stored)
      this.#store.reportLoss(error)
      return undefined
    } finally {
      stored.fetches--
      if (stored.dropped) this.#freeDisk(stored)
      if (this.#spillEverything) this.#spill?.rest()
    }
  }

  /** A cursor has no more use for what it has fetched. */
  release(fetched: Segment): void {
    this.#store.giveBuffer(fetched.recycle())
  }

  /** A cursor has passed the event: it will not change any more, and a producer may have waited for it. */
  shown(seq: number, cursor: LogCursor): void {
    if (seq > this.#shownSeq) this.#shownSeq = seq
    if (this.#followers.has(cursor)) this.#progress()
  }

  dropOldestOnDisk(): boolean {
    const oldest = this.#segments.find(({ disk, dropped }) => disk && !dropped)
    if (oldest) this.#drop(oldest, true)
    return oldest !== undefined
  }

  dropFile(): void {
    // One that is still on its way there has to wait for its turn.
    if (this.#writing.size > 0) return
    for (const stored of this.#segments.filter(({ disk, dropped }) => disk && !dropped)) this.#drop(stored)
    // Slots that are still being read from are gone with the file; their readers find that out.
    for (const stored of this.#segments) stored.disk = undefined
    this.#store.countDisk(-this.#diskBytes)
    this.#diskBytes = 0
    this.#spill?.remove()
    this.#spill = undefined
  }

  async spillAll(): Promise<void> {
    this.#spillEverything = true
    const tail = this.#segments[this.#segments.length - 1]!
    if (tail.memory && tail.count > 0) this.#resident.push(tail)
    this.#write()
    while (this.#writing.size > 0) await Promise.all(this.#writing.values())
    this.#spill?.rest()
  }

  /** Frees everything. Cursors that are still there see the rest as dropped. */
  discard(): void {
    if (this.#discarded) return
    this.#discarded = true
    this.#pacing.release()
    this.#hold?.release()
    this.#store.remove(this)
    this.#store.countMemory(-this.#countedMemory)
    this.#store.countDisk(-this.#diskBytes)
    this.#countedMemory = 0
    this.#diskBytes = 0
    this.#resident.length = 0
    for (const stored of this.#segments) {
      stored.memory = undefined
      stored.disk = undefined
      stored.dropped = true
    }
    this.#spill?.remove()
    this.#listeners.clear()
    this.#followers.clear()
  }

  #tail(): StoredSegment {
    const tail = this.#segments[this.#segments.length - 1]!
    if (tail.memory && tail.memory.room > 0) return tail
    if (tail.memory) this.#resident.push(tail)
    const fresh = this.#openSegment()
    this.#segments.push(fresh)
    this.#write()
    return fresh
  }

  #openSegment(): StoredSegment {
    // The first one of a process starts small; one that follows a full one will be full itself.
    const memory = new Segment(this.#nextSeq, this.#nextSeq === 1 ? undefined : this.#store.takeBuffer())
    return {
      firstSeq: this.#nextSeq,
      count: 0,
      startByte: this.#outputBytes,
      bytes: 0,
      memory,
      disk: undefined,
      dropped: false,
      fetches: 0,
    }
  }

  #add(kind: Parameters<Segment['add']>[0], data: Uint8Array): void {
    const tail = this.#segments[this.#segments.length - 1]!
    tail.memory!.add(kind, data)
    tail.count++
    this.#nextSeq++
  }

  #limits(): typeof USUAL {
    return this.#spillEverything || this.#store.memoryIsTight ? TIGHT : USUAL
  }

  /** Moves what is too much in memory to disk, oldest first. */
  #write(): void {
    const { hot, writes } = this.#limits()
    while (this.#writing.size < writes && this.#resident.length > hot && !this.#discarded) {
      const stored = this.#resident.shift()!
      const segment = stored.memory!
      const done = this.#writeToDisk(stored, segment).then(() => {
        this.#writing.delete(segment)
        this.#countMemory()
        this.#write()
      })
      this.#writing.set(segment, done)
    }
  }

  /** Never rejects: what cannot be written is dropped, and counted. */
  async #writeToDisk(stored: StoredSegment, segment: Segment): Promise<void> {
    try {
      this.#spill ??= this.#store.createSpillFile()
      const encoded = segment.encode()
      const slot = await this.#spill.write(encoded)
      if (this.#discarded) return
      this.#isOnDisk(stored, slot, encoded.length)
    } catch (error) {
      if (this.#discarded) return
      if (!stored.dropped) this.#drop(stored)
      this.#store.reportLoss(error)
    }
    stored.memory = undefined
    this.#store.giveBuffer(segment.recycle())
    // The quota may have caught up with it while it was being written.
    if (stored.dropped) this.#freeDisk(stored)
  }

  #enforceQuota(): void {
    while (this.#storedBytes > this.#store.options.quotaBytes) {
      const oldest = this.#segments.find((stored) => !stored.dropped)!
      if (oldest === this.#segments[this.#segments.length - 1]) return
      this.#pauseOwed = true
      this.#drop(oldest)
    }
    const most = this.#store.memoryIsTight ? MOST_SEGMENTS_TIGHT : MOST_SEGMENTS
    while (this.#resident.length > most) this.#writeNow(this.#resident.shift()!)
  }

  #writeNow(stored: StoredSegment): void {
    const segment = stored.memory!
    try {
      this.#spill ??= this.#store.createSpillFile()
      const encoded = segment.encode()
      this.#isOnDisk(stored, this.#spill.writeNow(encoded), encoded.length)
    } catch (error) {
      this.#drop(stored)
      this.#store.reportLoss(error)
    }
    stored.memory = undefined
    this.#store.giveBuffer(segment.recycle())
    this.#countMemory()
  }

  #isOnDisk(stored: StoredSegment, slot: number, size: number): void {
    stored.disk = { slot, size }
    this.#diskBytes += size
    this.#store.countDisk(size)
  }

  #drop(stored: StoredSegment, diskIsFull = false): void {
    stored.dropped = true
    this.#droppedBytes += stored.bytes
    this.#storedBytes -= stored.bytes
    const resident = this.#resident.indexOf(stored)
    if (resident >= 0) {
      this.#resident.splice(resident, 1)
      this.#store.giveBuffer(stored.memory!.recycle())
      stored.memory = undefined
      this.#countMemory()
    }
    this.#freeDisk(stored, diskIsFull)
    this.#mergeDropped(this.#indexOf(stored.firstSeq))
  }

  #freeDisk(stored: StoredSegment, diskIsFull = false): void {
    if (!stored.disk || stored.fetches > 0 || this.#discarded) return
    this.#spill!.free(stored.disk.slot, diskIsFull)
    this.#diskBytes -= stored.disk.size
    this.#store.countDisk(-stored.disk.size)
    stored.disk = undefined
  }

  /** Dropped neighbours become one: a flood must not leave a record of every piece that is gone. */
  #mergeDropped(index: number): void {
    for (const left of [index, index - 1]) {
      const [first, second] = [this.#segments[left], this.#segments[left + 1]]
      if (!first?.dropped || !second?.dropped) continue
      first.count += second.count
      first.bytes += second.bytes
      this.#segments.splice(left + 1, 1)
    }
  }

  #indexOf(seq: number): number {
    let low = 0
    let high = this.#segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#segments[middle]!.firstSeq <= seq) low = middle
      else high = middle - 1
    }
    return low
  }

  #progress(): void {
    const lag = this.#lag()
    this.#pacing.progress(lag, this.#outputBytes - lag)
  }

  #lag(): number {
    let lag = 0
    for (const cursor of this.#followers) lag = Math.max(lag, cursor.backlogBytes)
    return lag
  }

  #countMemory(): void {
    const tail = this.#segments[this.#segments.length - 1]!
    let capacity = tail.memory && !this.#spillEverything ? tail.memory.capacity : 0
    for (const segment of this.#writing.keys()) capacity += segment.capacity
    for (const { memory } of this.#resident) capacity += memory!.capacity
    if (capacity === this.#countedMemory) return
    const change = capacity - this.#countedMemory
    this.#countedMemory = capacity
    this.#store.countMemory(change)
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
  }
}

const NO_DATA = new Uint8Array()
