const REDRAW_MS = 100
const BAR_WIDTH = 24

/** How far a copy is. Drawn over and over in one line of the terminal; silent if there is none. */
export class Progress implements Disposable {
  readonly #started = performance.now()
  readonly #timer: NodeJS.Timeout | undefined
  readonly #isShown = process.stderr.isTTY === true
  #total: number | undefined
  #bytes = 0
  #files = 0

  constructor() {
    if (this.#isShown) this.#timer = setInterval(() => this.#draw(this.#line()), REDRAW_MS)
  }

  /** How much there will be, where that is known. */
  expect(bytes: number): void {
    this.#total = bytes
  }

  moved(bytes: number): void {
    this.#bytes += bytes
  }

  fileDone(): void {
    this.#files++
  }

  /** A line that stays. */
  finish(): void {
    const files = this.#files === 1 ? '1 file' : `${this.#files} files`
    if (this.#isShown) this.#draw(`${files}, ${size(this.#bytes)}, ${this.#speed()}\n`)
  }

  /** What was drawn is gone before anybody writes something else. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    if (this.#isShown) this.#draw('')
  }

  #line(): string {
    const amount = this.#total === undefined ? `${this.#files} files, ${size(this.#bytes)}` : size(this.#bytes)
    if (!this.#total) return `${amount}  ${this.#speed()}`
    // A file may grow while it is copied.
    const part = Math.min(1, this.#bytes / this.#total)
    const full = Math.round(part * BAR_WIDTH)
    const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`
    return `${bar} ${Math.floor(part * 100)}%  ${amount} of ${size(this.#total)}  ${this.#speed()}`
  }

  #speed(): string {
    const seconds = Math.max(0.001, (performance.now() - this.#started) / 1000)
    return `${(this.#bytes / 1e6 / seconds).toFixed(1)} MB/s`
  }

  #draw(line: string): void {
    process.stderr.write(`\r\x1b[K${line}`)
  }
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`
}
