import { lstatSync } from 'node:fs'
import { between, child, nameOf, parentOf } from '../policy/posix-path.ts'

/**
 * The first of these, or of the directories on the way to them, that is found under another spelling as well. A mount is
 * on a name; where the file system makes no difference between `.git` and `.GIT`, the kernel may, and then the other
 * leads past it.
 */
export function findOtherSpelling(paths: readonly string[]): { path: string; other: string } | undefined {
  for (const path of new Set(paths.flatMap((each) => [...between('/', each), each]))) {
    const other = child(parentOf(path), otherSpelling(nameOf(path)))
    if (other !== path && isSame(path, other)) return { path, other }
  }
  return undefined
}

/** The same if there is none. Character by character: `ß` would become two, and so another name. */
function otherSpelling(name: string): string {
  const upper = [...name].map(toUpper).join('')
  return upper === name ? name.toLowerCase() : upper
}

function toUpper(character: string): string {
  const upper = character.toUpperCase()
  return upper.length === character.length ? upper : character
}

function isSame(path: string, other: string): boolean {
  try {
    const there = lstatSync(other, { throwIfNoEntry: false })
    const here = there && lstatSync(path, { throwIfNoEntry: false })
    return here !== undefined && here.ino === there?.ino && here.dev === there.dev
  } catch {
    return false // Who may not look at it, or cannot even say it, does not get there either.
  }
}
