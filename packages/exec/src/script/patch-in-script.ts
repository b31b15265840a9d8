import { readLiteralWord } from './literal-word.ts'

/** A patch that a script does nothing with but to apply it. */
export interface ScriptedPatch {
  /** What the program would read, to the last newline. */
  readonly patch: string
  /** Where to, before that. */
  readonly cd?: string
}

const CHANGE_DIRECTORY = /[ \t\n]*cd[ \t]+/y
const AND = /[ \t]*&&[ \t\n]*/y
const APPLY = /[ \t\n]*(?:apply_patch|applypatch)[ \t]*<<[ \t]*(?:'([\w.-]+)'|"([\w.-]+)"|([\w.]+))[ \t]*\n/y

/**
 * `apply_patch <<'X' … X`, perhaps after `cd <path> &&`, and nothing else. Without quotes around X the shell would
 * expand what is in the patch: then only a patch in which there is nothing to expand.
 */
export async function patchInScript(script: string): Promise<ScriptedPatch | undefined> {
  let at = 0
  let cd: string | undefined
  const change = match(CHANGE_DIRECTORY, script, 0)
  if (change) {
    const path = readLiteralWord(script, change[0].length)
    // `cd -` and options are no paths.
    if ('what' in path || path.value === '' || path.value.startsWith('-')) return undefined
    const and = match(AND, script, path.end)
    if (!and) return undefined
    cd = path.value
    at = path.end + and[0].length
  }
  const apply = match(APPLY, script, at)
  if (!apply) return undefined
  const [head, single, double, bare] = apply
  const text = script.slice(at + head.length)
  const mark = single ?? double ?? bare ?? ''
  // The first line that is nothing but the mark ends it, whether it is meant to or not.
  const end = `\n${text}\n`.indexOf(`\n${mark}\n`)
  if (end < 0 || text.slice(end + mark.length).trim() !== '') return undefined
  const patch = text.slice(0, end)
  if (bare !== undefined && /[$`\\]/.test(patch)) return undefined
  return { patch, ...(cd === undefined ? {} : { cd }) }
}

function match(pattern: RegExp, script: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(script)
}
