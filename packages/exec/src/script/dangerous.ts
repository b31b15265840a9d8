import { carriesCommand } from './handed-on.ts'
import type { CommandLine } from './segment.ts'
import { baseName } from './shell-wrapper.ts'

/** Also as far as they have to be written to be told from other options. */
const FORCE = /^(?:-(?!-).*f|--f(?:o(?:r(?:ce?)?)?)?$)/s

/** Why a person should see this first, whatever it is for. */
export function dangerousReason(line: CommandLine): string | undefined {
  const inside = line.kind === 'plain' ? line.inside : line
  const visible = [...(line.kind === 'plain' ? line.segments : []), ...(inside?.within ?? [])]
  const forced = visible.find(({ words }) => removesByForce(words))
  if (forced) return `it removes files by force: \`${forced.words.join(' ').slice(0, 200)}\``
  return inside?.tooDeep ? 'it is nested too deep, or is too large, to be looked through' : undefined
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
