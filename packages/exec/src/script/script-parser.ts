import { BashGrammar, type GrammarFiles } from './bash-grammar.ts'
import { scriptsIn } from './handed-on.ts'
import { handedOn, InsideReader } from './inside-reader.ts'
import { type PlainScript, readPlainScript } from './plain-script.ts'
import type { PlainToken } from './plain-token.ts'
import { plainTokens } from './plain-tree.ts'
import { describeRefusal, type Refusal } from './refusal.ts'
import type { CommandLine, Segment } from './segment.ts'
import { type ShellWrapper, shellWrapper } from './shell-wrapper.ts'
import { type Visible, visibleCommands } from './visible-commands.ts'

/**
 * Says what a command line consists of. A script is plain only if two readings agree on every character of it: one
 * that knows the grammar, and one that knows nothing but literal words.
 */
export class ScriptParser {
  readonly #grammar: BashGrammar

  constructor(files: GrammarFiles) {
    this.#grammar = new BashGrammar(files)
  }

  /** Throws if the grammar cannot be loaded. */
  async commandLine(argv: readonly string[]): Promise<CommandLine> {
    const wrapper = shellWrapper(argv)
    if (wrapper) return await this.#script(wrapper)
    if (argv.length === 0) return { kind: 'opaque', why: 'an empty command line', within: [] }
    return await this.#plain([{ words: argv, assignments: [], redirects: [] }])
  }

  async #script({ script, kind }: ShellWrapper): Promise<CommandLine> {
    const plain = readPlainScript(script, kind)
    const read = await this.#grammar.parse(script, (root) => {
      const visible = visibleCommands(root)
      return { refusal: disagreement(plain, plainTokens(root)) ?? pipedCode(visible), visible }
    })
    if (!read)
      return { kind: 'opaque', why: 'a script too large or too entangled to be read', within: [], tooDeep: true }
    if (!('what' in plain) && !read.refusal) return await this.#plain(plain.segments)
    const { segments } = read.visible
    const { within, tooDeep } = await new InsideReader(this.#grammar).look(handedOn(read.visible))
    return {
      kind: 'opaque',
      why: describeRefusal(read.refusal ?? { what: 'something unknown', offset: 0 }, script),
      within: [...segments, ...within],
      ...(tooDeep ? { tooDeep } : {}),
    }
  }

  async #plain(segments: readonly Segment[]): Promise<CommandLine> {
    const reader = new InsideReader(this.#grammar)
    const seen: Segment[] = []
    for (const segment of segments) {
      const scripts = scriptsIn(segment.words)
      seen.push(scripts.length === 0 ? segment : { ...segment, inside: await reader.look(scripts) })
    }
    return { kind: 'plain', segments: seen }
  }
}

/** The grammar has better names for what it refuses. */
function disagreement(plain: PlainScript | Refusal, tree: readonly PlainToken[] | Refusal): Refusal | undefined {
  if ('what' in tree) return tree
  if ('what' in plain) return plain
  const { tokens } = plain
  const isSame = ({ kind, start, end }: PlainToken, index: number) =>
    tree[index]?.kind === kind && tree[index].start === start && tree[index].end === end
  const odd = tokens.findIndex((token, index) => !isSame(token, index))
  if (odd < 0 && tree.length === tokens.length) return undefined
  return { what: 'something that can be read in two ways', offset: (tokens[odd] ?? tree[tokens.length])?.start ?? 0 }
}

/** The words are all there, and yet not what is run. */
function pipedCode({ pipedAt }: Visible): Refusal | undefined {
  return pipedAt === undefined ? undefined : { what: 'a pipe into something that runs what it reads', offset: pipedAt }
}
