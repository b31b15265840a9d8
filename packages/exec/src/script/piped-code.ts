import type { Node } from 'web-tree-sitter'
import { literalOutput } from './literal-output.ts'
import { runsItsInput } from './runs-its-input.ts'

interface Pipeline {
  readonly end: number
  /** What begins here or later in it reads from a pipe … */
  readonly readsFrom: number
  /** … what was written by commands that begin here or later. */
  readonly writtenFrom: number
  /** The same for all of it, if it is itself what a pipe leads to. */
  readonly outer: number | undefined
}

/** Holds what commands are seen to write until a shell reads it. Wants to be told everything in the order of the script. */
export class PipedCode {
  /** Where the first command is that runs what is piped into it. */
  firstAt: number | undefined
  readonly #pipelines: Pipeline[] = []
  /** Each is read once at most, so that the time does not grow with the number of readers. */
  readonly #written: { readonly at: number; readonly raw: string; readonly decoded: string }[] = []

  enter(pipeline: Node): void {
    const { startIndex, endIndex, children, parent } = pipeline
    const pipe = children.find(({ type }) => type === '|' || type === '|&')
    if (!pipe) return
    const outer = this.#writtenFrom(startIndex)
    // Of `cat <<END | sh`, the grammar has only `| sh` in it, and that in the redirect of a statement.
    const start = pipe.startIndex > startIndex ? startIndex : (parent?.parent?.startIndex ?? 0)
    this.#pipelines.push({ end: endIndex, readsFrom: pipe.endIndex, writtenFrom: outer ?? start, outer })
  }

  /** The scripts that a command reads from a pipe. What it writes itself, another one may read. */
  take({ startIndex }: Node, words: readonly string[], input: readonly string[]): readonly string[] {
    const from = this.#writtenFrom(startIndex)
    if (from !== undefined && runsItsInput(words)) {
      this.firstAt ??= startIndex
      return this.#read(from)
    }
    const output = literalOutput(words)
    if (output) this.#written.push({ at: startIndex, ...output })
    for (const text of input) this.#written.push({ at: startIndex, raw: text, decoded: text })
    return []
  }

  #writtenFrom(at: number): number | undefined {
    while ((this.#pipelines.at(-1)?.end ?? at + 1) <= at) this.#pipelines.pop()
    const inner = this.#pipelines.at(-1)
    return inner && at >= inner.readsFrom ? inner.writtenFrom : inner?.outer
  }

  #read(from: number): readonly string[] {
    const first = this.#written.findLastIndex(({ at }) => at < from) + 1
    const read = this.#written.splice(first)
    const scripts = new Set([read.map(({ raw }) => raw).join('\n'), read.map(({ decoded }) => decoded).join('\n')])
    return [...scripts].filter((script) => script.trim() !== '')
  }
}
