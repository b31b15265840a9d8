import type { Node } from 'web-tree-sitter'
import type { PlainToken } from './plain-token.ts'
import { pushChildren } from './push-children.ts'
import type { Refusal } from './refusal.ts'

/** Looked into. What else a tree may hold is not plain. */
const CONTAINERS = new Set(['program', 'list', 'pipeline', 'redirected_statement', 'command'])
const KINDS: Readonly<Record<string, PlainToken['kind']>> = {
  '&&': 'operator',
  '||': 'operator',
  '|': 'operator',
  ';': 'operator',
  command_name: 'name',
  variable_assignment: 'assignment',
  file_redirect: 'redirect',
}
const WORDS = new Set(['word', 'number', 'string', 'raw_string', 'concatenation'])
const WORD_PARTS = [...WORDS, '"', 'string_content']
const REDIRECT_OPERATORS = ['<', '>', '>>', '>|', '>&', '<&', '&>', '&>>', '>&-', '<&-']
/** What each may consist of. */
const PARTS = {
  name: new Set(WORD_PARTS),
  word: new Set(WORD_PARTS),
  assignment: new Set([...WORD_PARTS, 'variable_name', '=']),
  redirect: new Set([...WORD_PARTS, ...REDIRECT_OPERATORS, 'file_descriptor']),
}

const NAMES: Readonly<Record<string, string>> = {
  ERROR: 'a syntax error',
  '&': 'a command in the background',
  comment: 'a comment',
  subshell: 'a subshell',
  compound_statement: 'a group',
  command_substitution: 'a command substitution',
  process_substitution: 'a process substitution',
  simple_expansion: 'an expansion',
  expansion: 'an expansion',
  arithmetic_expansion: 'arithmetic',
  ansi_c_string: "a `$'…'` string",
  translated_string: 'a `$"…"` string',
  brace_expression: 'a brace expansion',
  heredoc_redirect: 'a here-document',
  herestring_redirect: 'a here-string',
  negated_command: 'a negation',
  test_command: 'a test in brackets',
  function_definition: 'a function',
  variable_assignment: 'an assignment without a command',
  variable_assignments: 'assignments without a command',
  declaration_command: 'a declaration',
  unset_command: '`unset`',
  if_statement: '`if`',
  for_statement: 'a `for` or `select` loop',
  c_style_for_statement: 'a `for` loop',
  while_statement: 'a `while` or `until` loop',
  case_statement: '`case`',
  array: 'an array',
  subscript: 'a subscript',
  extglob_pattern: 'a glob',
  regex: 'a regular expression',
}

/** The tokens of a tree in which there is nothing else, or the first thing that there is. */
export function plainTokens(root: Node): readonly PlainToken[] | Refusal {
  const tokens: PlainToken[] = []
  const open = [root]
  /** Assignments are plain there only. */
  let commandEnd = 0
  for (let node = open.pop(); node; node = open.pop()) {
    const { type } = node
    if (type === 'command') commandEnd = node.endIndex
    const isContainer = CONTAINERS.has(type)
    const kind = KINDS[type] ?? (WORDS.has(type) ? 'word' : undefined)
    const isStray = kind === 'assignment' && node.endIndex > commandEnd
    if (node.isMissing || (!isContainer && kind === undefined) || isStray) return refusal(node)
    if (isContainer) pushChildren(open, node)
    else if (kind !== undefined) {
      const strange = kind === 'operator' ? undefined : strangeIn(node, PARTS[kind])
      if (strange) return strange
      const { target, further } = redirectParts(node)
      tokens.push({ kind, start: node.startIndex, end: (target ?? node).endIndex })
      for (const word of further) tokens.push({ kind: 'word', start: word.startIndex, end: word.endIndex })
    }
  }
  return tokens
}

/** For `>log make`, the grammar has only one target; for `make >log all`, it takes all that follows for targets. */
export function redirectParts(node: Node): { readonly target?: Node; readonly further: readonly Node[] } {
  if (node.type !== 'file_redirect') return { further: [] }
  const [target, ...further] = node.childrenForFieldName('destination')
  return target ? { target, further } : { further }
}

/** The first thing that a node consists of which is none of these. */
function strangeIn(node: Node, known: ReadonlySet<string>): Refusal | undefined {
  const open: Node[] = []
  pushChildren(open, node)
  for (let next = open.pop(); next; next = open.pop()) {
    if (next.isMissing || !known.has(next.type)) return refusal(next)
    pushChildren(open, next)
  }
  return undefined
}

function refusal({ type, isMissing, startIndex }: Node): Refusal {
  return { what: isMissing ? 'a syntax error' : (NAMES[type] ?? `\`${type}\``), offset: startIndex }
}
