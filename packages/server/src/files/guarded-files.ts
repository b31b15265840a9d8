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
    const real = given.followSymlinks === false ? path : realPath(path)
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
    const held: ReturnType<typeof holdDirectory>[] = []
    const names = new Map<string, NativePath>()
    const reals = new Map<string, NativePath>()
    const hold = (uri: PathUri, check: (real: NativePath) => void): PathUri => {
      const path = native(uri)
      const { directory, name } = splitName(path)
      const real = name.length === 0 ? realPath(path) : joinName(realPath(directory), name)
      check(real)
      const { leaf, release } = holdDirectory(real)
      held.push({ leaf, release })
      names.set(displayPath(leaf), path)
      reals.set(displayPath(leaf), real)
      return fromPosixPath(leaf)
    }
    try {
      const write = (real: NativePath) => this.#requireWrite(real)
      const move = (real: NativePath) => {
        write(real)
        this.#requireNothingDeniedIn(real)
      }
      const read = (real: NativePath) => this.#requireRead(real, method)
      const safe =
        params.path !== undefined
          ? { ...params, path: hold(params.path, write), followSymlinks: true }
          : {
              ...params,
              sourcePath: hold(params.sourcePath!, method === 'fs/rename' ? move : read),
              destinationPath: hold(params.destinationPath!, write),
            }
      const inside = (path: NativePath) => replacePrefix(path, reals)
      const checks = {
        copy: (source: NativePath, target: NativePath) => {
          read(inside(source))
          write(inside(target))
        },
        remove: (path: NativePath) => write(inside(path)),
      }
      return await act(safe as Params<FileMethod>, { checks })
    } catch (error) {
      throw withNames(error, names)
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

  /** What a pattern denies here it may not deny elsewhere; what an entry denies is mounted, and cannot be moved. */
  #requireNothingDeniedIn(path: NativePath): void {
    if (this.#rules.globs.length === 0 || !lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    const open = [path]
    let names = 0
    for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
      for (const entry of readdirSync(directory, { withFileTypes: true, encoding: 'buffer' })) {
        const below = joinName(directory, nativePath(entry.name))
        if (++names > MAX_MOVED_NAMES) throw tooMuchToMove(path)
        if (this.#rules.decide(displayPath(below)).access === 'none') throw systemError('EACCES', below)
        if (entry.isDirectory()) open.push(below)
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

function replacePrefix(path: NativePath, prefixes: ReadonlyMap<string, NativePath>): string {
  const at = displayPath(path)
  for (const [from, to] of prefixes) if (at.startsWith(`${from}/`)) return `${displayPath(to)}${at.slice(from.length)}`
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
function withNames(error: unknown, names: ReadonlyMap<string, NativePath>): unknown {
  if (!ExecError.is(error)) return error
  let { message } = error
  for (const [leaf, path] of names) message = message.replaceAll(leaf, displayPath(path))
  return new ExecError(error.code, message, { cause: error })
}
