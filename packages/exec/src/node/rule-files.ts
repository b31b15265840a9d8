import { constants } from 'node:fs'
import { link, lstat, mkdir, open, readFile, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AmendmentError } from '../policy/amendment.ts'
import type { AmendmentScope } from '../policy/command-policy.ts'
import { parseCalls } from '../policy/language/parser.ts'
import type { RuleStore } from '../policy/rule-policy.ts'
import { MAX_RULE_FILE_BYTES, ruleText } from './read-rules.ts'
import { PROJECT_RULES, type RulePlaces, userDirectory } from './rule-places.ts'
import { hasCode } from './system-error.ts'

/** To save a line takes milliseconds: whoever holds the lock for so long is gone. */
const STALE_MS = 10_000
const PATIENCE_MS = 30_000
const SAVED = 'default.rules'

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
    for (const name of PROJECT_RULES) {
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
    const text = await ruleText(handle)
    if (text.split(/\r?\n/).includes(line)) return
    const added = `${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
    const [refusal] = parseCalls(text + added).refusals
    if (refusal) throw new AmendmentError(`the rule is not saved: repair ${path} first: ${refusal.message}`)
    const bytes = new TextEncoder().encode(added)
    const { size } = await handle.stat()
    if (size + bytes.length > MAX_RULE_FILE_BYTES)
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
