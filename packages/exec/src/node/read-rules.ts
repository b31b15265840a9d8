import { constants } from 'node:fs'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { RuleFile, RuleLayer } from '../policy/rules/load-rules.ts'
import { type RuleProblem, RulesError } from '../policy/rules/rules-error.ts'
import { type RulePlaces, ruleDirectories } from './rule-places.ts'
import { hasCode } from './system-error.ts'

export const MAX_RULE_FILE_BYTES = 1024 * 1024
const MAX_FILES = 256

/** The rules of the system, of the user and of the project. Throws `RulesError` if any of it cannot be read. */
export async function readRuleLayers(places: RulePlaces): Promise<readonly RuleLayer[]> {
  const problems: RuleProblem[] = []
  const layers: RuleLayer[] = []
  for (const { layer: name, path } of ruleDirectories(places)) {
    layers.push({ name, files: await readRules(path, problems) })
  }
  if (problems.length > 0) throw new RulesError(problems)
  return layers
}

/**
 * Rules that somebody names: a file whatever it is called, or a directory as the layers have it. Throws `RulesError`,
 * also if there is nothing: a wrong name would otherwise be a policy without rules.
 */
export async function readNamedRules(name: string, path: string): Promise<RuleLayer> {
  const problems: RuleProblem[] = []
  const isDirectory = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const files = isDirectory ? await readRules(path, problems) : await readRule(path, problems)
  if (problems.length > 0) throw new RulesError(problems)
  return { name, files }
}

/** What cannot be read is a problem, not a smaller set of rules: it may have been what forbids something. */
async function readRules(directory: string, problems: RuleProblem[]): Promise<RuleFile[]> {
  const refuse = (file: string, message: string) => problems.push({ file, line: 1, column: 1, message })
  let names: string[]
  try {
    names = (await readdir(directory)).filter((name) => name.endsWith('.rules') && !name.startsWith('.')).sort()
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) refuse(directory, `cannot be read: ${messageOf(error)}`)
    return []
  }
  if (names.length > MAX_FILES) {
    refuse(directory, `has more than ${MAX_FILES} rule files`)
    return []
  }
  const files: RuleFile[] = []
  for (const name of names) files.push(...(await readRule(join(directory, name), problems)))
  return files
}

async function readRule(path: string, problems: RuleProblem[]): Promise<RuleFile[]> {
  try {
    // Without O_NONBLOCK a named pipe would be waited for.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return [{ path, text: await ruleText(handle).finally(() => handle.close()) }]
  } catch (error) {
    problems.push({ file: path, line: 1, column: 1, message: `cannot be read: ${messageOf(error)}` })
    return []
  }
}

export async function ruleText(handle: FileHandle): Promise<string> {
  if (!(await handle.stat()).isFile()) throw new Error('it is not a file; give it another name')
  const buffer = new Uint8Array(MAX_RULE_FILE_BYTES + 1)
  let length = 0
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  if (length > MAX_RULE_FILE_BYTES) throw new Error(`it is larger than ${MAX_RULE_FILE_BYTES} bytes`)
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(buffer.subarray(0, length))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
