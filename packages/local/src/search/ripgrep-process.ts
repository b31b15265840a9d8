import { ExecError } from '@waldo/environment'
import { toByteString } from '../byte-string.ts'
import type { LinePattern } from './line-pattern.ts'

/** Much more than the longest path with two numbers. */
const MAX_RECORD_LENGTH = 64 * 1024
/** What ripgrep complains about beyond that is lost. */
const MAX_COMPLAINTS_LENGTH = 64 * 1024

/**
 * Everything that could depend on the user, the terminal or the kind of file is switched off; files are searched as the
 * bytes that they are, one after the other in the order of the arguments. `--max-columns` keeps lines out of the output:
 * what we want to know is where they are.
 */
const ARGUMENTS: readonly string[] = [
  ...['--no-config', '--no-ignore', '--hidden', '--text', '--no-mmap', '--encoding=none', '--threads=1'],
  ...['--color=never', '--no-heading', '--with-filename', '--null', '--line-number', '--column', '--max-columns=1'],
  ...['--case-sensitive', '--file=-', '--'],
]

/** A line that matches. The name is that of the argument, a character for each byte. */
export interface RipgrepRecord {
  readonly name: string
  readonly line: number
  /** Undefined where it does not tell: the match is the empty end of a last line that has no line end. */
  readonly column: number | undefined
}

/** One run of ripgrep over some files. Whoever starts it must end it. */
export class RipgrepProcess {
  readonly #child
  readonly #complaints: Promise<string>

  /** The child sees the descriptors as 3, 4 and so on. They stay the caller's to close. */
  constructor(program: string, pattern: LinePattern, names: readonly string[], descriptors: readonly number[]) {
    try {
      this.#child = Bun.spawn([program, ...ARGUMENTS, ...names], {
        stdio: [Buffer.from(pattern.rust), 'pipe', 'pipe', ...descriptors],
        env: {},
      })
    } catch (error) {
      throw new ExecError('SPAWN_FAILED', `cannot start ripgrep: ${(error as Error).message}`, { cause: error })
    }
    this.#complaints = beginningOf(this.#child.stderr)
  }

  /** All lines that match, in the order of the arguments, and in each file in its order. */
  async *records(): AsyncGenerator<RipgrepRecord> {
    let text = ''
    for await (const chunk of this.#child.stdout) {
      text += toByteString(chunk)
      let start = 0
      for (;;) {
        // A name may contain line ends, but no NUL.
        const nameEnd = text.indexOf('\0', start)
        const end = nameEnd < 0 ? -1 : text.indexOf('\n', nameEnd)
        if (end < 0) break
        const [, line, column] = text.slice(nameEnd + 1, end).match(/^(\d+):(?:(\d+):)?/) ?? []
        if (line === undefined) throw unreadable()
        yield { name: text.slice(start, nameEnd), line: Number(line), column: column ? Number(column) : undefined }
        start = end + 1
      }
      text = text.slice(start)
      if (text.length > MAX_RECORD_LENGTH) throw unreadable()
    }
    if (text !== '' && !this.#child.killed) throw unreadable()
  }

  /** Once all records are read: the lines that it wrote to standard error. */
  async complaints(): Promise<string[]> {
    const code = await this.#child.exited
    const lines = (await this.#complaints).split('\n').filter((line) => line !== '')
    if (code === 0 || code === 1 || (code === 2 && lines.length > 0)) return lines
    throw new ExecError('FILE_FAILED', `ripgrep ended with ${this.#child.signalCode ?? `code ${code}`}`)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async end(): Promise<void> {
    this.kill()
    await Promise.all([this.#child.exited, this.#complaints])
  }
}

function unreadable(): ExecError {
  return new ExecError('FILE_FAILED', 'what ripgrep writes cannot be read: is it ripgrep?')
}

/** Reads to the end, so that the writer does not wait, and keeps the beginning. */
async function beginningOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of stream) {
    if (text.length < MAX_COMPLAINTS_LENGTH) text += toByteString(chunk)
  }
  return text
}
