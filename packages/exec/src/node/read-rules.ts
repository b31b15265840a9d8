import { constants } from 'node:fs'
import { type FileHandle, open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { configDirectory } from '@waldo/environment/node'
import type { RuleFile, RuleLayer } from '../policy/rules/load-rules.ts'
import { type RuleProblem, RulesError } from '../policy/rules/rules-error.ts'
import { hasCode } from './system-error.ts'

export const MAX_RULE_FILE_BYTES = 1024 * 1024
const MAX_FILES = 256
/** In the directory of a project: what tools keep there about it. */
const PROJECT = '.waldo'

export interface RulePlaces {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The project's directory. Undefined if there is none, or it is not trusted: then its rules do not count. */
  readonly workspace?: string | undefined
  /** `/etc/waldo/rules` if nothing is said. */
  readonly systemDirectory?: string | undefined
}

/** The rules of the system, of the user and of the project. Throws `RulesError` if any of it cannot be read. */
export async function readRuleLayers(places: RulePlaces): Promise<readonly RuleLayer[]> {
  const directories = [
    ['system', systemDirectory(places)],
    ['user', userDirectory(places)],
    ...(places.workspace === undefined ? [] : [['project', join(places.workspace, PROJECT, 'rules')] as const]),
  ] as const
  const problems: RuleProblem[] = []
  const layers: RuleLayer[] = []
  for (const [name, directory] of directories) layers.push({ name, files: await readRules(directory, problems) })
  if (problems.length > 0) throw new RulesError(problems)
  return layers
}

/** What must not be written by whom the rules are for: the directories, or where they would be made. */
export function rulePaths(places: RulePlaces): readonly string[] {
  const project = places.workspace === undefined ? [] : [join(places.workspace, PROJECT)]
  return [systemDirectory(places), configDirectory(places), ...project]
}

function systemDirectory({ systemDirectory: given = '/etc/waldo/rules' }: RulePlaces): string {
  return given
}

export function userDirectory({ env }: RulePlaces): string {
  return join(configDirectory({ env }), 'rules')
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
