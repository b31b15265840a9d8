import { invalid } from '../files/file-error.ts'
import { foldCase, writeClass } from './character-class.ts'
import { ExpressionParser } from './expression-parser.ts'
import { MAX_PATTERN_BYTES } from './search-scope.ts'

/** One expression for lines, in the notations of both engines. They find the same lines, and begin at the same byte. */
export interface LinePattern {
  /** With the flag `u`, for a text of any number of lines, where bytes that are not UTF-8 are lone surrogates. */
  readonly javascript: string
  /** For ripgrep, which looks for it in each line. */
  readonly rust: string
}

export function compilePattern(source: string, options: { fixed: boolean; ignoreCase: boolean }): LinePattern {
  if (Buffer.byteLength(source) > MAX_PATTERN_BYTES) {
    throw invalid(`the pattern is longer than ${MAX_PATTERN_BYTES} bytes`)
  }
  if (!source.isWellFormed()) throw invalid('the pattern contains half a surrogate pair')
  if (source.includes('\n')) throw invalid('the pattern contains a line end: each line is searched by itself')
  if (!options.fixed) return new ExpressionParser(source, options.ignoreCase).parse()
  const text = Array.from(source, (character) => {
    const point = character.codePointAt(0)!
    return writeClass(options.ignoreCase ? foldCase([[point, point]]) : [[point, point]])
  }).join('')
  return { javascript: text, rust: text }
}
