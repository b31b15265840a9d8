import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Tree } from './patch-case.ts'

export function writeTree(directory: string, tree: Tree): void {
  mkdirSync(directory, { recursive: true })
  for (const [name, entry] of Object.entries(tree)) {
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true })
    if (entry === 'dir/') mkdirSync(path, { recursive: true })
    else if (typeof entry === 'string' || entry instanceof Uint8Array) writeFileSync(path, entry)
    else if ('link' in entry) symlinkSync(entry.link, path)
    else {
      writeFileSync(path, entry.content)
      chmodSync(path, entry.mode)
    }
  }
}

/**
 * What is there, in words that can be compared: the bytes of files, links, and directories with nothing in them. The
 * mode is told of files that are not as new files are.
 */
export function readTree(directory: string, below = ''): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(join(directory, below))) {
    const inside = join(below, name)
    const path = join(directory, inside)
    const stat = lstatSync(path)
    if (stat.isSymbolicLink()) found[inside] = `-> ${readlinkSync(path)}`
    else if (!stat.isDirectory())
      found[inside] = `${modeOf(stat.mode & 0o7777)}${readFileSync(path).toString('latin1')}`
    else if (readdirSync(path).length === 0) found[inside] = 'dir/'
    else Object.assign(found, readTree(directory, inside))
  }
  return found
}

/** The same words for a tree that is expected. */
export function expectedTree(tree: Tree): Record<string, string> {
  const words = Object.entries(tree).map(([name, entry]): [string, string] => {
    if (entry === 'dir/') return [name, entry]
    if (typeof entry === 'string' || entry instanceof Uint8Array) return [name, Buffer.from(entry).toString('latin1')]
    if ('link' in entry) return [name, `-> ${entry.link}`]
    return [name, `${modeOf(entry.mode)}${Buffer.from(entry.content).toString('latin1')}`]
  })
  return Object.fromEntries(words)
}

function modeOf(mode: number): string {
  return mode === 0o644 ? '' : `(${mode.toString(8)}) `
}
