import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** What is below a directory: names, and what they stand for. */
export function fileFacts(directory: string, counts: (name: string) => boolean): Map<string, string> {
  const facts = new Map<string, string>()
  const visit = (name: string) => {
    const path = join(directory, name)
    const stats = lstatSync(path)
    if (stats.isFile()) facts.set(name, `file ${readFileSync(path, 'latin1')}`)
    else if (stats.isSymbolicLink()) facts.set(name, `link ${readlinkSync(path)}`)
    else facts.set(name, stats.isDirectory() ? 'directory' : 'other')
    if (stats.isDirectory()) walk(name)
  }
  const walk = (name: string) => {
    for (const entry of readdirSync(join(directory, name))) {
      const below = name === '' ? entry : `${name}/${entry}`
      if (counts(below)) visit(below)
    }
  }
  walk('')
  return facts
}
