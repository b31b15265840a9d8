import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository, from wherever this was bundled to. */
export const ROOT = findRoot(dirname(fileURLToPath(import.meta.url)))
export const WALDO = join(ROOT, 'waldo')

function findRoot(directory: string): string {
  try {
    if (JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')).name === 'waldo') return directory
  } catch {
    // Not here.
  }
  if (directory === '/') throw new Error('this is not run from within the repository')
  return findRoot(dirname(directory))
}

/** A directory of its own, removed with everything in it; what was given up half-way may still be adding to it. */
export function scratch(): Disposable & { readonly path: string; at(name: string): string } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-env-')))
  return {
    path,
    at: (name) => join(path, name),
    [Symbol.dispose]: () => remove(path),
  }
}

/** Node looks once what there is to remove, however often it then tries. */
function remove(path: string, attempts = 20): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 20 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY' || attempts === 0) throw error
    remove(path, attempts - 1)
  }
}
