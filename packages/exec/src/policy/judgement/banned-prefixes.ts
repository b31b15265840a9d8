import { isShell, operandsBeforeCommand } from '../../script/handed-on.ts'
import { baseName } from '../../script/shell-wrapper.ts'
import { FLAGS, INTERPRETERS, NEVER_DECIDED, READS_CODE, RUNNERS } from './programs-that-run-others.ts'

/** For each word, whether a prefix that begins there leaves open what is run. Beyond the last one, it does. */
type Open = readonly boolean[]

/**
 * Whether a rule for the prefix would allow everything: it names a program that runs others, or code, and besides that
 * only options and their values. What says more, as `npm run build`, is somebody's decision.
 */
export function isBannedPrefix(prefix: readonly string[]): boolean {
  const open: boolean[] = []
  open[prefix.length] = true
  // From the last: what `sudo env …` leaves open is what the command after it does.
  for (let at = prefix.length - 1; at >= 0; at--) open[at] = isOpen(prefix, at, open)
  return open[0]!
}

function isOpen(words: readonly string[], at: number, open: Open): boolean {
  const name = knownName(words[at]!)
  if (name === undefined) return false
  if (NEVER_DECIDED.has(name)) return true
  const end = words.length
  const isEnd = (start: number) => start === end
  const runner = RUNNERS.get(name)
  if (runner) {
    return starts(words, at + 1, { name }).some((start) => {
      if (start === end) return !runner.isFineAlone
      const word = words[start]!
      if (runner.scripts.includes(word)) return starts(words, start + 1, { name: '' }).some(isEnd)
      const operands = runner.commands[word]
      return operands !== undefined && starts(words, start + 1, { name: '', operands }).some((next) => open[next])
    })
  }
  const operands = operandsBeforeCommand(name)
  if (operands !== undefined) return starts(words, at + 1, { name, operands }).some((start) => open[start])
  return starts(words, at + 1, { name }).some(isEnd)
}

/** A program that is known to run others, as it is called here: without its directory and its version. */
function knownName(program: string): string | undefined {
  const name = baseName(program)
    .toLowerCase()
    .replace(/\.exe$/, '')
  return [name, name.replace(/-?[0-9][0-9.]*[a-z]?$/, '')].find(
    (each) =>
      NEVER_DECIDED.has(each) ||
      INTERPRETERS.has(each) ||
      RUNNERS.has(each) ||
      isShell(each) ||
      operandsBeforeCommand(each) !== undefined,
  )
}

interface Program {
  readonly name: string
  /** Words that it takes for itself before what it runs. */
  readonly operands?: number
}

/**
 * Where that which decides may begin. There are several places where nobody knows whether a word is the value of the
 * option before it; the end of the prefix is one of them if all words may be options and values.
 */
function starts(words: readonly string[], from: number, { name, operands = 0 }: Program): number[] {
  const found: number[] = []
  const end = words.length
  const flags = isShell(name) ? FLAGS.sh : FLAGS[name]
  const code = isShell(name) ? READS_CODE.sh : READS_CODE[name]
  const isCarrier = operandsBeforeCommand(name) !== undefined
  let left = operands
  for (let at = from; at < end; at++) {
    const word = words[at]!
    if (word === '--') return [...found, Math.min(at + 1 + left, end)]
    if (!isCarrier && (word === '-' || code?.test(word))) return [end]
    if (/^[-+]/.test(word)) {
      const next = words[at + 1]
      const isComplete = word.includes('=') || /^-[A-Za-z][0-9]/.test(word) || flags?.test(word)
      if (isComplete || next === undefined || /^[-+]/.test(next)) continue
      found.push(Math.min(at + 1 + left, end))
      at++
    } else if (isCarrier && /^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) {
      // A variable for the command.
    } else if (left > 0) left--
    else return [...found, at]
  }
  return [...found, end]
}
