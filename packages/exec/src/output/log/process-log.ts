import { countLineEnds } from '../count-lines.ts'
import { BLOCK_BYTES, type LogBudget, type LogHolder } from './log-budget.ts'
import { type GrepOptions, type GrepResult, grepLog } from './log-grep.ts'
import { type LineOptions, type LineResult, linesOfLog } from './log-lines.ts'
import { type LogPage, type PageOptions, pageOfLog } from './log-page.ts'
import type { LogSnapshot } from './log-snapshot.ts'

const LF = 0x0a
/** What is kept of one process. */
const DEFAULT_MAX_BYTES = 8 * 1024 * 1024
/** The first block; most processes say less. */
const SMALLEST_BLOCK = 4096
/** How finely the oldest is dropped, at least. */
const BLOCKS_PER_LOG = 16

interface Block {
  readonly bytes: Uint8Array
  length: number
}

/**
 * What one process has said, from the beginning, by offset, line or pattern. The oldest goes when there is no room for
 * more, and is counted; offsets and line numbers stay what they were.
 */
export class ProcessLog implements LogHolder {
  readonly #budget: LogBudget
  readonly #maxBytes: number
  #blocks: Block[] = []
  #held = 0
  #start = 0
  #end = 0
  #droppedLineEnds = 0
  #beginsInLine = false
  #isClosed = false

  constructor(budget: LogBudget, maxBytes: number = DEFAULT_MAX_BYTES) {
    if (!Number.isSafeInteger(maxBytes) || maxBytes < BLOCKS_PER_LOG) {
      throw new RangeError(`Cannot keep a log in ${maxBytes} bytes: give at least ${BLOCKS_PER_LOG}`)
    }
    this.#budget = budget
    this.#maxBytes = maxBytes
  }

  /** What it takes up, which is somewhat more than what it keeps. */
  get heldBytes(): number {
    return this.#held
  }

  /** Everything that was ever said. */
  get totalBytes(): number {
    return this.#end
  }

  /** What is no longer kept of it: the bytes before this offset. */
  get droppedBytes(): number {
    return this.#start
  }

  /** Copies what it keeps. After `close`, late output is only counted. */
  push(chunk: Uint8Array): void {
    if (this.#isClosed) {
      this.#end += chunk.length
      this.#start = this.#end
      return
    }
    for (let at = 0; at < chunk.length; ) {
      const block = this.#blockWithRoom()
      const taken = Math.min(chunk.length - at, block.bytes.length - block.length)
      block.bytes.set(taken === chunk.length ? chunk : chunk.subarray(at, at + taken), block.length)
      block.length += taken
      this.#end += taken
      at += taken
    }
  }

  read(options: PageOptions): LogPage {
    return pageOfLog(options, this.#start, this.#end, (from, to) => this.#copy(from, to))
  }

  /** The bytes from an offset on, as far as they are kept. */
  bytesFrom(offset: number): Uint8Array {
    return this.#copy(Math.min(Math.max(offset, this.#start), this.#end), this.#end)
  }

  lines(options: LineOptions): LineResult {
    return linesOfLog(this.#snapshot(), options)
  }

  /** Throws a `PatternError` for a pattern that cannot be searched for. */
  grep(options: GrepOptions): GrepResult {
    return grepLog(this.#snapshot(), options)
  }

  /** Lets go of everything. */
  close(): void {
    this.#isClosed = true
    const held = this.#held
    while (this.#blocks.length > 0) this.dropOldest()
    this.#budget.giveBack(this, held)
  }

  /** For the budget, which takes it off itself. */
  dropOldest(): number {
    const block = this.#blocks.shift()
    if (!block) return 0
    this.#droppedLineEnds += countLineEnds(block.bytes.subarray(0, block.length))
    this.#beginsInLine = block.bytes[block.length - 1] !== LF
    this.#start += block.length
    this.#held -= block.bytes.length
    return block.bytes.length
  }

  #blockWithRoom(): Block {
    const last = this.#blocks.at(-1)
    if (last && last.length < last.bytes.length) return last
    const largest = Math.min(BLOCK_BYTES, Math.floor(this.#maxBytes / BLOCKS_PER_LOG))
    // Twice as much each time, so that a short log takes up little and a long one has few blocks.
    // The last one is what is left: nothing goes before the log is full.
    const size = Math.min(largest, Math.max(SMALLEST_BLOCK, this.#held), this.#maxBytes - this.#held || largest)
    while (this.#held + size > this.#maxBytes) this.#budget.giveBack(this, this.dropOldest())
    this.#budget.take(this, size)
    const block = { bytes: new Uint8Array(size), length: 0 }
    this.#blocks.push(block)
    this.#held += size
    return block
  }

  #snapshot(): LogSnapshot {
    return {
      bytes: this.#copy(this.#start, this.#end),
      offset: this.#start,
      lineEndsBefore: this.#droppedLineEnds,
      beginsInLine: this.#beginsInLine,
    }
  }

  #copy(from: number, to: number): Uint8Array {
    const copy = new Uint8Array(to - from)
    let offset = this.#start
    for (const { bytes, length } of this.#blocks) {
      const first = Math.max(from, offset)
      const end = Math.min(to, offset + length)
      if (first < end) copy.set(bytes.subarray(first - offset, end - offset), first - from)
      offset += length
    }
    return copy
  }
}
