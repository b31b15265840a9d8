import type { Node } from 'web-tree-sitter'
import { carriesCommand, isShell } from './handed-on.ts'
import { knownText } from './known-text.ts'
import { PipedCode } from './piped-code.ts'
import { redirectParts } from './plain-tree.ts'
import { pushChildren } from './push-children.ts'
import { runsItsInput } from './runs-its-input.ts'
import type { Assignment, Redirect, Segment } from './segment.ts'

export interface Visible {
  readonly segments: readonly Segment[]
  /** What shells among them read as their script: `bash <<'END'`, `echo '…' | sh`. */
  readonly scripts: readonly string[]
  /** Where something is piped into a shell: what it will run, only who writes it knows. */
  readonly pipedAt?: number
}

/** Besides commands: what has a grammar of its own, and what has none. */
const COMMANDS = new Set(['command', 'declaration_command', 'unset_command', 'ERROR'])
/** A redirect after one of these belongs to the last command in it. */
const CARRY_ON = new Set(['list', 'pipeline', 'negated_command', 'redirected_statement'])
const OPERATORS = new Set(['<', '>', '>>', '>|', '&>', '&>>', '>&', '<&'])
const REDIRECTS = new Set(['file_redirect', 'heredoc_redirect', 'herestring_redirect'])

/** Every command in a tree, wherever it is: in control flow, functions, substitutions, even around syntax errors. */
export function visibleCommands(root: Node): Visible {
  const segments: Segment[] = []
  const scripts: string[] = []
  /** Redirects that the grammar has around a command, by the id of the command. */
  const around = new Map<number, Node[]>()
  const piped = new PipedCode()
  const open = [root]
  for (let node = open.pop(); node; node = open.pop()) {
    pushChildren(open, node)
    if (node.type === 'pipeline') piped.enter(node)
    else if (node.type === 'redirected_statement') {
      const command = lastCommand(node)
      const redirects = node.children.filter(({ type }) => REDIRECTS.has(type))
      if (command) around.set(command.id, [...redirects, ...(around.get(command.id) ?? [])])
    } else if (COMMANDS.has(node.type)) {
      const command = new VisibleCommand()
      for (const part of [...node.children, ...(around.get(node.id) ?? [])]) command.take(part)
      if (command.words.length > 0) segments.push(command.segment)
      const hasShell = carriesCommand(command.words) ? command.words.some(isShell) : isShell(command.words[0] ?? '')
      if (hasShell || runsItsInput(command.words)) scripts.push(...command.input)
      scripts.push(...piped.take(node, command.words, command.input))
    }
  }
  return { segments, scripts, ...(piped.firstAt !== undefined && { pipedAt: piped.firstAt }) }
}

function lastCommand(statement: Node): Node | undefined {
  let node: Node | undefined = statement
  while (node && CARRY_ON.has(node.type)) node = node.namedChildren.findLast(({ type }) => !REDIRECTS.has(type))
  return node
}

class VisibleCommand {
  readonly words: string[] = []
  /** What it is given to read. */
  readonly input: string[] = []
  readonly #assignments: Assignment[] = []
  readonly #redirects: Redirect[] = []

  get segment(): Segment {
    return { words: this.words, assignments: this.#assignments, redirects: this.#redirects }
  }

  take(part: Node): void {
    switch (part.type) {
      case 'variable_assignment': {
        const name = part.childForFieldName('name')?.text
        const value = part.childForFieldName('value')
        const text = value === null ? '' : knownText(value)
        if (name !== undefined && text !== undefined) this.#assignments.push({ name, value: text })
        break
      }
      case 'file_redirect':
        this.#takeRedirect(part)
        break
      case 'heredoc_redirect':
        for (const child of part.children) {
          if (child.type === 'heredoc_body') this.input.push(child.text)
          else if (!REDIRECTS.has(child.type)) this.#takeWord(child)
          else this.take(child)
        }
        break
      case 'herestring_redirect':
        this.input.push(...part.namedChildren.flatMap((child) => knownText(child) ?? []))
        break
      // The word by which a declaration begins is one of the grammar.
      case 'declare':
      case 'typeset':
      case 'export':
      case 'readonly':
      case 'local':
      case 'unset':
      case 'unsetenv':
        this.words.push(part.type)
        break
      default:
        this.#takeWord(part)
    }
  }

  #takeWord(word: Node): void {
    const text = knownText(word)
    if (text !== undefined) this.words.push(text)
  }

  #takeRedirect(redirect: Node): void {
    const { target, further } = redirectParts(redirect)
    const text = target && knownText(target)
    const operator = redirect.children.find(({ type }) => OPERATORS.has(type))?.type
    const descriptor = redirect.childForFieldName('descriptor')?.text
    if (text !== undefined && operator !== undefined) {
      const number = descriptor !== undefined && /^[0-9]+$/.test(descriptor) ? { descriptor: Number(descriptor) } : {}
      this.#redirects.push({ operator: operator as Redirect['operator'], ...number, target: text })
    }
    for (const word of further) this.#takeWord(word)
  }
}
