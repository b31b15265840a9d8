import { execFileSync } from 'node:child_process'
import { copyFileSync, linkSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dir, '../../..')
const BUILT = join(ROOT, 'dist/waldo')

/**
 * Puts the compiled file where every account can execute it: the checkout may be in a home directory. It is built first
 * if it is older than the sources.
 */
export function installExecutable(directory: string): string {
  if (!isCurrent()) execFileSync('node', ['scripts/build.mjs'], { cwd: ROOT })
  const target = join(directory, 'waldo')
  try {
    linkSync(BUILT, target)
  } catch {
    // Another file system, or one without links.
    copyFileSync(BUILT, target)
  }
  return target
}

function isCurrent(): boolean {
  const built = statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = readdirSync(join(ROOT, 'packages'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|json)$/.test(entry.name) && !entry.name.endsWith('.test.ts'))
    .filter((entry) => !entry.parentPath.includes('node_modules'))
  return sources.every((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs <= built)
}
