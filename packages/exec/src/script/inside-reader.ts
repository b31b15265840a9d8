import type { BashGrammar } from './bash-grammar.ts'
import { scriptsIn } from './handed-on.ts'
import type { Inside, Segment } from './segment.ts'
import { type Visible, visibleCommands } from './visible-commands.ts'

/** Shells in shells: nobody nests more of them but to hide something. */
const MAX_DEPTH = 8
const MAX_SCRIPTS = 64
const MAX_SEGMENTS = 2048

/** Looks into what the commands of one line hand on. All of them together get no more of it than one could. */
export class InsideReader {
  readonly #grammar: BashGrammar
  #scripts = 0
  #segments = 0

  constructor(grammar: BashGrammar) {
    this.#grammar = grammar
  }

  /** What can be seen in these scripts, and in those that their commands hand on, and so on. */
  async look(scripts: readonly string[]): Promise<Inside> {
    const within: Segment[] = []
    let layer = scripts
    for (let depth = 1; layer.length > 0; depth++) {
      const next: string[] = []
      for (const script of layer) {
        const visible = depth > MAX_DEPTH ? undefined : await this.#read(script)
        if (!visible) return { within, tooDeep: true }
        within.push(...visible.segments)
        next.push(...handedOn(visible))
      }
      layer = next
    }
    return { within }
  }

  /** Undefined if it cannot be read, or too much has been. */
  async #read(script: string): Promise<Visible | undefined> {
    if (++this.#scripts > MAX_SCRIPTS) return undefined
    const visible = await this.#grammar.parse(script, visibleCommands)
    this.#segments += visible?.segments.length ?? 0
    return this.#segments > MAX_SEGMENTS ? undefined : visible
  }
}

/** The scripts that these commands run, be it that they are among their words or that they read them. */
export function handedOn({ segments, scripts }: Visible): readonly string[] {
  return [...scripts, ...segments.flatMap(({ words }) => scriptsIn(words))]
}
