import { carriesCommand } from './handed-on.ts'
import { insideOf } from './inside-of.ts'
import type { CommandLine } from './segment.ts'
import { baseName } from './shell-wrapper.ts'
import { shownCommand } from './shown-command.ts'

/** Also as far as they have to be written to be told from other options. */
const FORCE = /^(?:-(?!-).*f|--f(?:o(?:r(?:ce?)?)?)?$)/s

const MAX_SHOWN = 200

/** Why a person should see something first, whatever it is for. */
export interface Danger {
  /** It removes files by force; or there is more to it than can be seen. */
  readonly kind: 'removal' | 'unseen'
  readonly text: string
}

/** The first that is found in a command line, also in what it hands on. */
export function findDanger(line: CommandLine): Danger | undefined {
  const { within, tooDeep } = insideOf(line)
  const visible = [...(line.kind === 'plain' ? line.segments : []), ...within]
  const forced = visible.find(({ words }) => removesByForce(words))
  if (forced) {
    return { kind: 'removal', text: `it removes files by force: \`${shownCommand(forced.words, MAX_SHOWN)}\`` }
  }
  return tooDeep ? { kind: 'unseen', text: 'it is nested too deep, or is too large, to be looked through' } : undefined
}

/** `rm` with a force option before `--`. */
function removesByForce(words: readonly string[]): boolean {
  const isCarrier = carriesCommand(words)
  let isRemoving = false
  for (const [index, word] of words.entries()) {
    if (!isRemoving) isRemoving = (index === 0 || isCarrier) && baseName(word) === 'rm'
    else if (FORCE.test(word)) return true
    else if (word === '--') isRemoving = false
  }
  return false
}
