import { constants } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { configDirectory } from '@waldo/environment/node'
import { AmendmentError } from '../policy/amendment.ts'
import type { AmendmentScope } from '../policy/command-policy.ts'
import { parseCalls } from '../policy/language/parser.ts'
import type { RuleStore } from '../policy/rule-policy.ts'
import type { RuleFile, RuleLayer } from '../policy/rules/load-rules.ts'
import { type RuleProblem, RulesError } from '../policy/rules/rules-error.ts'

const MAX_FILE_BYTES = 1024 * 1024
const MAX_FILES = 256
/** To save a line takes milliseconds: whoever holds the lock for so long is gone. */
const STALE_MS = 10_000
const PATIENCE_MS = 30_000
const SAVED = 'default.rules'

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
    ['system', places.systemDirectory ?? '/etc/waldo/rules'],
    ['user', userDirectory(places)],
    ...(places.workspace === undefined ? [] : [['project', join(places.workspace, '.waldo', 'rules')] as const]),
  ] as const
  const problems: RuleProblem[] = []
  const layers: RuleLayer[] = []
  for (const [name, directory] of directories) layers.push({ name, files: await readRules(directory, problems) })
  if (problems.length > 0) throw new RulesError(problems)
  return layers
}

function userDirectory({ env }: RulePlaces): string {
  return join(configDirectory({ env }), 'rules')
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
  for (const name of names) {
    const path = join(directory, name)
    try {
      // Without O_NONBLOCK a named pipe would be waited for.
      const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
      files.push({ path, text: await textOf(handle).finally(() => handle.close()) })
    } catch (error) {
      refuse(path, `cannot be read: ${messageOf(error)}`)
    }
  }
  return files
}

async function textOf(handle: FileHandle): Promise<string> {
  if (!(await handle.stat()).isFile()) throw new Error('it is not a file; give it another name')
  const buffer = new Uint8Array(MAX_FILE_BYTES + 1)
  let length = 0
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  if (length > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`)
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(buffer.subarray(0, length))
}

/** Saves rules in `default.rules` of the project or of the user. Any number of processes may do so at once. */
export class RuleFiles implements RuleStore {
  readonly #places: RulePlaces

  constructor(places: RulePlaces) {
    this.#places = places
  }

  async append(scope: AmendmentScope, line: string): Promise<void> {
    const directory = scope === 'user' ? await this.#userDirectory() : await this.#projectDirectory()
    const path = join(directory, SAVED)
    const lock = await takeLock(`${path}.lock`)
    try {
      // Whoever works in the project could let its file lead to any other. A user's own links are wanted.
      await appendLine(path, line, scope === 'project' ? constants.O_NOFOLLOW : 0)
    } finally {
      await lock.release()
    }
  }

  async #userDirectory(): Promise<string> {
    const directory = userDirectory(this.#places)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return directory
  }

  async #projectDirectory(): Promise<string> {
    const { workspace } = this.#places
    if (workspace === undefined)
      throw new AmendmentError('the rule is not saved: there is no trusted project; save it for the user')
    let directory = await realpath(workspace)
    for (const name of ['.waldo', 'rules']) {
      directory = join(directory, name)
      await mkdir(directory).catch((error: unknown) => {
        if (!hasCode(error, 'EEXIST')) throw error
      })
      if (!(await lstat(directory)).isDirectory()) {
        throw new AmendmentError(`the rule is not saved: ${directory} is not a directory of the project itself`)
      }
    }
    return directory
  }
}

async function appendLine(path: string, line: string, flags: number): Promise<void> {
  const { O_RDWR, O_CREAT, O_APPEND, O_NONBLOCK } = constants
  const handle = await open(path, O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | flags, 0o644)
  try {
    const text = await textOf(handle)
    if (text.split(/\r?\n/).includes(line)) return
    const added = `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
    const [refusal] = parseCalls(text + added).refusals
    if (refusal) throw new AmendmentError(`the rule is not saved: repair ${path} first: ${refusal.message}`)
    const bytes = new TextEncoder().encode(added)
    const { size } = await handle.stat()
    if (size + bytes.length > MAX_FILE_BYTES)
      throw new AmendmentError(`the rule is not saved: ${path} is full; tidy it up`)
    // One write, at the end wherever that is by then: even if the lock were lost, no line would be torn or overwritten.
    const { bytesWritten } = await handle.write(bytes)
    if (bytesWritten !== bytes.length) {
      await handle.truncate(size)
      throw new AmendmentError(`the rule is not saved: there is no space for it in ${path}`)
    }
    await handle.sync()
    if (text === '') await syncDirectory(dirname(path))
  } finally {
    await handle.close()
  }
}

/** A new file is there after a power failure only if its directory is written, too. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY)
  await handle.sync().finally(() => handle.close())
}

/** A file that exists while somebody holds it. */
async function takeLock(path: string): Promise<{ release(): Promise<void> }> {
  const token = `${process.pid} ${crypto.randomUUID()}\n`
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    try {
      const handle = await open(path, 'wx', 0o600)
      await handle.writeFile(token).finally(() => handle.close())
      return { release: () => releaseLock(path, token) }
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    if (Date.now() > deadline)
      throw new AmendmentError(`the rule is not saved: somebody holds ${path}; if nobody does, delete it`)
    if (!(await removeStaleLock(path))) await delay(5 + Math.random() * 20)
  }
}

async function releaseLock(path: string, token: string): Promise<void> {
  // It may have been taken for stale, and belong to somebody else by now.
  const held = await readFile(path, 'utf8').catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
  if (held === token) await rm(path, { force: true })
}

async function removeStaleLock(path: string): Promise<boolean> {
  try {
    const seen = await lstat(path)
    if (Date.now() - seen.mtimeMs < STALE_MS) return false
    const aside = `${path}.${crypto.randomUUID()}`
    await rename(path, aside)
    try {
      // Others may have done the same, and one of them may hold a new lock: then it was that one, and goes back.
      const taken = await lstat(aside)
      if (taken.ino !== seen.ino || taken.mtimeMs !== seen.mtimeMs) await link(aside, path)
    } finally {
      await rm(aside, { force: true })
    }
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'EEXIST')) return false
    throw error
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
