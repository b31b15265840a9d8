import { Language, type Node, Parser, type Tree } from 'web-tree-sitter'

/** Where the parser comes from: it is too large to be loaded before somebody needs it. */
export interface GrammarFiles {
  /** The wasm of the parser itself. */
  runtime(): Promise<Uint8Array>
  /** The wasm of the grammar of bash. */
  bash(): Promise<Uint8Array>
}

/** Larger ones are data, not something to read. */
const MAX_SCRIPT = 64 * 1024
const MAX_DEPTH = 100
/** The time to recover from an error after many pipes grows with their square, and cannot be interrupted. */
const MAX_PIPES = 1000
const MAX_PARSE_MS = 500

/** The parser is one for the whole process: initialised twice at once, the second would take the memory of the first. */
let runtime: Promise<void> | undefined

/** Reads scripts with the grammar of bash. Loads it when it is first needed, once, and again if that failed. */
export class BashGrammar {
  readonly #files: GrammarFiles
  #language: Promise<Language> | undefined

  constructor(files: GrammarFiles) {
    this.#files = files
  }

  /** What `look` makes of the tree, which is gone afterwards; undefined if there is none: too large, deep or slow. */
  async parse<T>(script: string, look: (root: Node) => T): Promise<T | undefined> {
    if (script.length > MAX_SCRIPT || isTangled(script)) return undefined
    this.#language ??= this.#load().catch((cause: unknown) => {
      this.#language = undefined
      throw new Error('the grammar for shell scripts could not be loaded: see the cause', { cause })
    })
    const tree = parse(await this.#language, script)
    if (!tree) return undefined
    try {
      return look(tree.rootNode)
    } finally {
      tree.delete()
    }
  }

  async #load(): Promise<Language> {
    runtime ??= initialise(this.#files).catch((error: unknown) => {
      runtime = undefined
      throw error
    })
    await runtime
    return await Language.load(await this.#files.bash())
  }
}

async function initialise(files: GrammarFiles): Promise<void> {
  // What it has to say comes as an error, too.
  await Parser.init({ wasmBinary: await files.runtime(), print: () => {}, printErr: () => {} })
}

function parse(language: Language, script: string): Tree | undefined {
  const parser = new Parser()
  try {
    parser.setLanguage(language)
    const deadline = performance.now() + MAX_PARSE_MS
    return parser.parse(script, null, { progressCallback: () => performance.now() > deadline }) ?? undefined
  } catch (error) {
    // It has run out of memory or stack: as when it takes too long, nothing is known about the script.
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) return undefined
    throw error
  } finally {
    parser.delete()
  }
}

/** Whether it could overwhelm the parser. Does not know about quotes: what is refused needlessly is asked about. */
function isTangled(script: string): boolean {
  let depth = 0
  let pipes = 0
  for (const character of script) {
    if (character === '(' || character === '[' || character === '{') depth++
    else if (character === ')' || character === ']' || character === '}') depth = Math.max(0, depth - 1)
    else if (character === '|') pipes++
    if (depth > MAX_DEPTH || pipes > MAX_PIPES) return true
  }
  return false
}
