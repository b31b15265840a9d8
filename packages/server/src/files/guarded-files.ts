import { lstatSync, readdirSync } from 'node:fs'
import { ExecError } from '@waldo/environment'
import {
  displayPath,
  holdDirectory,
  joinName,
  type NativePath,
  nativePath,
  realPath,
  splitName,
  systemError,
} from '@waldo/local/files'
import { fromPosixPath, type Params, type PathUri } from '@waldo/protocol'
import type { FileRules } from '@waldo/sandbox'
import { type FileContext, type FileMethod, native } from './file-methods.ts'
import { plainPath } from './plain-path.ts'

type AnyParams = Params<FileMethod> & {
  path?: PathUri
  sourcePath?: PathUri
  destinationPath?: PathUri
  mode?: unknown
  followSymlinks?: boolean
}
type Result = { entries?: Listed[]; matches?: Listed[]; files?: Listed[]; errors?: Listed[] }
/** Makes a call that is safe to make. What is inside of a directory has to be checked as it comes. */
type Act = (params: Params<FileMethod>, options?: Pick<FileContext, 'checks'>) => unknown
type Listed = { path?: PathUri; fileName?: string }
/** A name in a directory that stays the same, whatever is renamed meanwhile. */
interface Held {
  /** As it was asked for. */
  readonly path: NativePath
  /** What that leads to. */
  readonly real: NativePath
  /** The same, below a descriptor of its directory. */
  readonly leaf: NativePath
  readonly release: () => void
}

/** What is in a directory that is to be moved has to be looked at, if there are patterns. */
const MAX_MOVED_NAMES = 100_000

const WRITES: ReadonlySet<FileMethod> = new Set(['fs/writeFile', 'fs/append', 'fs/createDirectory', 'fs/setMode'])
/** They work on what is at the path itself, even if that is a link. */
const ON_NAMES: ReadonlySet<FileMethod> = new Set(['fs/remove', 'fs/rename', 'fs/copy'])
const ON_HANDLES: ReadonlySet<FileMethod> = new Set(['fs/readBlock', 'fs/writeBlock', 'fs/close'])

/**
 * Keeps calls to the rules where mounts cannot: names that do not exist yet, and files that a pattern denies since the
 * mounts were made. A path is first followed to what it leads to, that is looked up in the rules, and the call is then
 * made on it in a way that follows nothing: whoever changes a link in between makes the call fail.
 */
export class GuardedFiles {
  readonly #rules: FileRules

  constructor(rules: FileRules) {
    this.#rules = rules
  }

  call(method: FileMethod, params: Params<FileMethod>, act: Act): unknown {
    if (ON_HANDLES.has(method)) return act(params)
    if (ON_NAMES.has(method)) return this.#onNames(method, params as AnyParams, act)
    const given = params as AnyParams
    const path = native(given.path!)
    // Who does not want to follow links is refused by the call itself if there is one.
    const real = plainPath(given.followSymlinks === false ? path : realPath(path))
    if (WRITES.has(method) || (method === 'fs/open' && given.mode === 'replace')) this.#requireWrite(real)
    else this.#requireRead(real, method)
    switch (method) {
      case 'fs/getMetadata':
      case 'fs/canonicalize':
        // They tell what kind of thing is there; a link that changes meanwhile leads to what may be seen anyway.
        return act(params)
      case 'fs/readDirectory':
      case 'fs/walk':
      case 'fs/glob':
      case 'fs/grep':
        return this.#list(given, path, real, act)
      default:
        return act({ ...given, path: fromPosixPath(real), followSymlinks: false } as Params<FileMethod>)
    }
  }

  /** What may not be seen is left out, and the rest is shown below the path that was asked for. */
  async #list(params: AnyParams, path: NativePath, real: NativePath, act: Act): Promise<unknown> {
    const result = (await act({ ...params, path: fromPosixPath(real) } as Params<FileMethod>)) as Result
    const [from, to] = [fromPosixPath(real), fromPosixPath(path)]
    const visible = <T extends Listed>(listed: T[]): T[] =>
      listed.flatMap((each) => {
        const at = each.path === undefined ? joinName(real, each.fileName!) : native(each.path)
        if (!this.#isVisible(at)) return []
        return each.path === undefined || from === to
          ? [each]
          : [{ ...each, path: `${to}${each.path.slice(from.length)}` }]
      })
    return {
      ...result,
      ...(result.entries && { entries: visible(result.entries) }),
      ...(result.matches && { matches: visible(result.matches) }),
      ...(result.files && { files: visible(result.files) }),
      ...(result.errors && { errors: visible(result.errors) }),
    }
  }

  async #onNames(method: FileMethod, params: AnyParams, act: Act): Promise<unknown> {
    const held: Held[] = []
    const hold = (uri: PathUri, check: (real: NativePath) => void): Held => {
      const path = native(uri)
      const { directory, name } = splitName(path)
      const real = plainPath(name.length === 0 ? realPath(path) : joinName(realPath(directory), name))
      check(real)
      held.push({ ...holdDirectory(real), path, real })
      return held.at(-1)!
    }
    const write = (real: NativePath) => this.#requireWrite(real)
    const read = (real: NativePath) => this.#requireRead(real, method)
    const inside = (path: NativePath) => replacePrefix(path, held)
    const checks = {
      copy: (source: NativePath, target: NativePath) => {
        read(inside(source))
        write(inside(target))
      },
      remove: (path: NativePath) => write(inside(path)),
    }
    try {
      let safe: object
      if (params.path !== undefined) safe = { path: fromPosixPath(hold(params.path, write).leaf), followSymlinks: true }
      else {
        const source = hold(params.sourcePath!, method === 'fs/rename' ? write : read)
        const target = hold(params.destinationPath!, write)
        if (method === 'fs/rename') this.#requireMovable(source, target)
        safe = { sourcePath: fromPosixPath(source.leaf), destinationPath: fromPosixPath(target.leaf) }
      }
      return await act({ ...params, ...safe } as Params<FileMethod>, { checks })
    } catch (error) {
      throw withNames(error, held)
    } finally {
      for (const { release } of held) release()
    }
  }

  #requireRead(path: NativePath, method: FileMethod): void {
    const { access, explicit } = this.#rules.decide(displayPath(path))
    if (access !== 'none') return
    if (explicit) throw systemError('EACCES', path)
    // A directory on the way to something that may be read is there, but for what is in it.
    const passed = method === 'fs/getMetadata' || method === 'fs/readDirectory' || method === 'fs/walk'
    if (!passed || !this.#isVisible(path)) throw systemError('ENOENT', path)
  }

  #requireWrite(path: NativePath): void {
    const { access, explicit } = this.#rules.decide(displayPath(path))
    if (access === 'write') return
    throw systemError(access === 'none' && explicit ? 'EACCES' : 'EROFS', path)
  }

  /** What a pattern denies here it may not deny there, and what is free here may be protected there. */
  #requireMovable(source: Held, target: Held): void {
    const { globs, rules } = this.#rules
    const to = displayPath(target.real)
    const isTold = globs.length > 0 || rules.some(({ path }) => path === to || path.startsWith(`${to}/`))
    if (!isTold || !lstatSync(source.leaf, { throwIfNoEntry: false })?.isDirectory()) return
    const open = [source.leaf]
    let names = 0
    for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
      for (const name of readdirSync(directory, { encoding: 'buffer' })) {
        if (++names > MAX_MOVED_NAMES) throw tooMuchToMove(source.real)
        const below = joinName(directory, nativePath(name))
        const from = replacePrefix(below, [source])
        if (this.#rules.decide(from).access === 'none') throw systemError('EACCES', from)
        this.#requireWrite(`${to}${from.slice(displayPath(source.real).length)}`)
        if (lstatSync(below, { throwIfNoEntry: false })?.isDirectory()) open.push(below)
      }
    }
  }

  #isVisible(path: NativePath): boolean {
    const at = displayPath(path)
    if (this.#rules.decide(at).access !== 'none') return true
    const below = at === '/' ? at : `${at}/`
    return this.#rules.rules.some((rule) => rule.access !== 'deny' && rule.path.startsWith(below))
  }
}

function replacePrefix(path: NativePath, held: readonly Held[]): string {
  const at = displayPath(path)
  for (const { leaf, real } of held) {
    const from = displayPath(leaf)
    if (at.startsWith(`${from}/`)) return `${displayPath(real)}${at.slice(from.length)}`
  }
  return at
}

function tooMuchToMove(path: NativePath): ExecError {
  return new ExecError(
    'FILE_FAILED',
    `${displayPath(path)} holds more than ${MAX_MOVED_NAMES} names, each of which would have to be compared with the ` +
      'deny patterns: move its parts',
  )
}

/** Nobody knows our descriptors. */
function withNames(error: unknown, held: readonly Held[]): unknown {
  if (!ExecError.is(error)) return error
  let { message } = error
  for (const { leaf, path } of held) message = message.replaceAll(displayPath(leaf), displayPath(path))
  return new ExecError(error.code, message, { cause: error })
}
