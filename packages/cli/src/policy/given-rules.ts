import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RuleFile, type RuleLayer, RulesError } from '@waldo/exec'

/** What is larger is refused when it is loaded: no more of it has to be read than to see that. */
const MAX_FILE_BYTES = 1024 * 1024
const MAX_FILES = 256

/**
 * Rules that somebody names: a file whatever it is called, or a directory as the layers have it. Throws `RulesError`,
 * also if there is nothing: a wrong name would otherwise be a policy without rules.
 */
export async function readGivenRules(name: string, path: string): Promise<RuleLayer> {
  try {
    const files: RuleFile[] = []
    for (const file of await rulePaths(path)) files.push({ path: file, text: await readText(file) })
    return { name, files }
  } catch (error) {
    if (error instanceof RulesError) throw error
    throw problem(path, (error as Error).message)
  }
}

async function rulePaths(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => name.endsWith('.rules') && !name.startsWith('.')).sort()
  if (names.length > MAX_FILES) throw problem(path, `it has more than ${MAX_FILES} rule files`)
  return names.map((name) => join(path, name))
}

async function readText(path: string): Promise<string> {
  try {
    if (!(await stat(path)).isFile()) throw new Error('it is not a file')
    const bytes = await Bun.file(path)
      .slice(0, MAX_FILE_BYTES + 1)
      .bytes()
    if (bytes.length > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw problem(path, (error as Error).message)
  }
}

function problem(file: string, message: string): RulesError {
  return new RulesError([{ file, line: 1, column: 1, message: `cannot be read: ${message}` }])
}
