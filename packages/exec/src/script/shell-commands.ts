import type { Segment } from './segment.ts'

const words = (text: string) => new Set(text.split(' '))

/** Not names of commands in at least one of the shells. */
const RESERVED = words(
  'if then else elif fi case esac for select while until do done in function time coproc ' +
    'foreach end repeat always nocorrect noglob declare export float integer local readonly typeset unset',
)

/**
 * By these the shell itself runs what is in a word, a file or its history, or gives a later word another meaning (an
 * alias, a variable, an option, a path for a name): then the words that can be seen are not what is run.
 */
const MORE_THAN_THEIR_WORDS = words(
  'eval . source trap alias unalias let read mapfile readarray getopts exec builtin hash enable shopt bind complete ' +
    'compgen compopt fc r history jobs wait setopt unsetopt emulate zmodload autoload functions unfunction disable ' +
    'unhash rehash zle zcompile zparseopts zstyle zformat vared print sched bindkey getln compdef compctl ' +
    'zregexparse pushln private',
)

/** What is set before them stays set in a POSIX shell, `PATH` for instance. */
const KEEP_ASSIGNMENTS = words(': set exit return shift break continue times')

/** These take numbers or names of variables, in which some shells run `a[$(…)]`. */
const EVALUATE = words(
  'printf test exit bye logout return shift break continue kill ulimit umask cd chdir pushd popd set',
)

/** `set -euo pipefail`: the options that leave every word what it is. */
const HARMLESS_SET = /^set(?: [-+](?:[eux]+|[eux]*o (?:errexit|nounset|xtrace|pipefail)))+$/

/** With options after that, or more names, zsh runs what it is asked about. */
const ASKS_ABOUT_ONE = /^command -[vV] [^-+\s]\S*$/

/** Why the shell does something else, or more, than to run these words. */
export function whyMoreThanItsWords({ words, assignments }: Segment): string | undefined {
  const name = words[0] ?? ''
  const option = words[1] ?? ''
  if (RESERVED.has(name)) return `the shell's own word \`${name}\``
  const isMore =
    MORE_THAN_THEIR_WORDS.has(name) ||
    (name === 'command' && !ASKS_ABOUT_ONE.test(words.join(' '))) ||
    (name === 'printf' && option.startsWith('-') && option !== '--') ||
    (name === 'test' && words.some((word) => word === '-v' || word === '-R')) ||
    (name === 'set' && !HARMLESS_SET.test(words.join(' '))) ||
    (EVALUATE.has(name) && words.some((word) => word.includes('[') && /[$`]/.test(word)))
  if (isMore) return `\`${name}\`, with which the shell does more than can be seen,`
  if (assignments.length > 0 && KEEP_ASSIGNMENTS.has(name)) return `an assignment that may stay after \`${name}\``
  return undefined
}
