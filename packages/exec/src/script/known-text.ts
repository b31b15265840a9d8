import type { Node } from 'web-tree-sitter'
import { decodeAnsiC } from './ansi-c-string.ts'

/** Deeper ones are nobody's words. */
const MAX_DEPTH = 50

/**
 * What can be known of a word without running anything: `-rf` of `-rf"$x"`. Undefined if that is nothing, as for `$x`.
 * Globs and braces stay as they are written.
 */
export function knownText(word: Node, depth = 0): string | undefined {
  // The parser has added it, to go on after an error.
  if (word.isMissing) return undefined
  switch (word.type) {
    case 'word':
    case 'variable_name':
      return word.text.replace(/\\\n/g, '').replace(/\\(.)/gs, '$1')
    case 'raw_string':
      return word.text.slice(1, -1)
    case 'ansi_c_string':
      return decodeAnsiC(word.text.slice(2, -1))
    case 'string':
    case 'translated_string':
    case 'concatenation':
    case 'command_name':
      return depth > MAX_DEPTH ? undefined : joined(word, depth)
    case 'number':
    case 'brace_expression':
    case 'extglob_pattern':
    case 'test_operator':
      return word.text
    default:
      return undefined
  }
}

function joined(word: Node, depth: number): string | undefined {
  const { children, text } = word
  if (word.type === 'string' && children.every(({ type }) => type === '"' || type === 'string_content')) {
    // From its quotes rather than its parts: those leave out blanks at their ends.
    return unescapeQuoted(text.slice(1, -1))
  }
  const parts = children.map((part) =>
    part.type === 'string_content' ? unescapeQuoted(part.text) : knownText(part, depth + 1),
  )
  return parts.every((part) => part === undefined) ? undefined : parts.join('')
}

function unescapeQuoted(text: string): string {
  return text.replace(/\\\n/g, '').replace(/\\([$`"\\])/g, '$1')
}
