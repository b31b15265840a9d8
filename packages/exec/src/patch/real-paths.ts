import { ExecError } from '@waldo/environment'
import { isOpaque, type PathUri, parent } from '@waldo/protocol'
import { isWithin, moved } from './path-spelling.ts'

/** Where a directory really is; undefined: it is not there; an error: that could not be found out. */
export type Canonical = PathUri | undefined | ExecError

export interface RealPath {
  /** Without links on the way. */
  readonly real: PathUri
  /** The same; but written below one of the homes, as that was given, if it is in there. */
  readonly path: PathUri
  /** Directories on the way that are not there yet, the uppermost first. */
  readonly missingDirectories: readonly PathUri[]
}

interface Directory {
  readonly real: PathUri
  readonly missing: readonly PathUri[]
}

/** Where paths lead to, once the system has said so of every directory on the way. */
export class RealPaths {
  readonly #canonical: ReadonlyMap<PathUri, Canonical>
  readonly #homes: readonly { readonly home: PathUri; readonly real: PathUri }[]
  readonly #directories = new Map<PathUri, Directory | ExecError>()

  /** `canonical` knows the homes, and every directory above the paths that will be asked for, up to the root. */
  constructor(canonical: ReadonlyMap<PathUri, Canonical>, homes: readonly PathUri[]) {
    this.#canonical = canonical
    this.#homes = homes.flatMap((home) => {
      const real = canonical.get(home)
      return typeof real === 'string' && !isOpaque(real) && !isOpaque(home) ? [{ home, real }] : []
    })
  }

  /** Of what is in a directory, whatever it is itself. */
  entry(path: PathUri): RealPath | ExecError {
    const above = parent(path)
    if (above === undefined) return { real: path, path, missingDirectories: [] }
    const directory = this.#directory(above)
    if (ExecError.is(directory)) return directory
    const real = moved(path, above, directory.real)
    return { real, path: this.#named(real), missingDirectories: directory.missing }
  }

  /** Of a directory, written as people know it. */
  directory(path: PathUri): PathUri | ExecError {
    const directory = this.#directory(path)
    return ExecError.is(directory) ? directory : this.#named(directory.real)
  }

  /** Each is found once: there may be many paths below it. */
  #directory(path: PathUri): Directory | ExecError {
    const known = this.#directories.get(path)
    if (known) return known
    const found = this.#find(path)
    this.#directories.set(path, found)
    return found
  }

  #find(path: PathUri): Directory | ExecError {
    const real = this.#canonical.get(path)
    if (ExecError.is(real)) return real
    if (real !== undefined) {
      return isOpaque(real)
        ? new ExecError('FILE_INVALID', `${path} leads to a directory that has a name like a drive: work without it`)
        : { real, missing: [] }
    }
    const above = parent(path)
    if (above === undefined) return { real: path, missing: [path] }
    const outer = this.#directory(above)
    if (ExecError.is(outer)) return outer
    const here = moved(path, above, outer.real)
    return { real: here, missing: [...outer.missing, here] }
  }

  #named(real: PathUri): PathUri {
    const found = this.#homes.find((each) => isWithin(each.real, real))
    return found ? moved(real, found.real, found.home) : real
  }
}
