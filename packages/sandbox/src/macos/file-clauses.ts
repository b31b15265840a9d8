import type { DenyGlob } from '../policy/deny-glob.ts'
import type { FileRule, FileRules } from '../policy/file-rules.ts'
import { between, depthOf, isWithin } from '../policy/posix-path.ts'
import { anyDirectory, directoriesRegexes, nameRegexes, stepsRegexes } from './glob-regex.ts'
import type { ProfileParameters } from './profile-parameters.ts'

/** What cannot be read cannot be run either. */
const READ = 'file-read* file-test-existence file-map-executable process-exec*'
const WRITE = 'file-write*'
const LOOK = 'file-read-metadata file-test-existence'

/** Paths for which it does not matter what the rules say. */
export interface Exceptions {
  /** What the executor keeps for itself. */
  readonly hidden: readonly string[]
  /** What the program that is to run consists of, if it is the executor's. */
  readonly own: readonly string[]
}

/**
 * The rules in the language of Seatbelt, where the last clause that matches decides: outermost rules come first, so that
 * the one that names most of a path has the last word, and then the patterns.
 */
export function fileClauses(
  files: FileRules | undefined,
  { hidden, own }: Exceptions,
  parameters: ProfileParameters,
): string[] {
  if (!files) return [`(allow ${READ} ${WRITE} (regex #"^/"))`]
  const clauses = new FileClauses(files, parameters)
  return [
    ...files.rules.flatMap((rule) => clauses.ofRule(rule)),
    ...clauses.ofTheWayThere(),
    ...files.globs.flatMap((glob) => clauses.ofGlob(glob)),
    ...own.flatMap((path) => clauses.ofOwn(path)),
    ...hidden.map((path) => clauses.ofHidden(path)),
    ...clauses.ofWhatMustStay(hidden),
  ]
}

class FileClauses {
  readonly #files: FileRules
  readonly #parameters: ProfileParameters

  constructor(files: FileRules, parameters: ProfileParameters) {
    this.#files = files
    this.#parameters = parameters
  }

  ofRule(rule: FileRule): string[] {
    const target = this.#target(rule)
    switch (rule.access) {
      case 'deny':
        return [`(deny ${READ} ${WRITE} ${target})`]
      case 'read':
        return [`(allow ${READ} ${target})`, `(deny ${WRITE} ${target})`]
      case 'write':
        return [`(allow ${READ} ${WRITE} ${target})`, ...rule.protects.map((name) => this.#protect(rule.path, name))]
    }
  }

  /** Whoever works in a directory asks what the ones above it are, and what the links are that lead there. */
  ofTheWayThere(): string[] {
    const readable = this.#files.rules.filter(({ access }) => access !== 'deny')
    const asked = readable.flatMap(({ path, links }) => [...between('/', path), ...links])
    const unseen = [...new Set(asked)].filter((path) => this.#files.decide(path).access === 'none')
    return unseen.length === 0 ? [] : [`(allow ${LOOK} ${unseen.map((path) => this.#literal(path)).join(' ')})`]
  }

  ofGlob({ directory, steps }: DenyGlob): string[] {
    const start = anyDirectory(depthOf(directory))
    const clauses = [`(deny ${READ} ${WRITE} ${this.#matching(directory, stepsRegexes(start, steps))})`]
    // A directory that is moved would take what is denied in it to where it is not.
    const holders = directoriesRegexes(start, steps)
    if (holders.length > 0 && this.#isWritableIn(directory)) {
      const target = this.#matching(directory, holders, '(vnode-type DIRECTORY)')
      clauses.push(`(deny file-write-unlink ${target})`)
    }
    return clauses
  }

  /** Whoever loads a program asks what the directories above it are, too. */
  ofOwn(path: string): string[] {
    const above = between('/', path).map((each) => this.#literal(each))
    return [
      ...(above.length === 0 ? [] : [`(allow ${LOOK} ${above.join(' ')})`]),
      `(allow ${READ} ${this.#literal(path)} ${this.#subpath(path)})`,
    ]
  }

  ofHidden(path: string): string {
    return `(deny ${READ} ${WRITE} ${this.#literal(path)} ${this.#subpath(path)})`
  }

  /**
   * Rules are about paths: were a directory moved away that leads to one of them, another could be put in its place.
   * And a writable directory itself, replaced by a link, would be another one for the next command.
   */
  ofWhatMustStay(hidden: readonly string[]): string[] {
    const isWritable = (path: string) => this.#files.decide(path).access === 'write'
    const { rules, globs } = this.#files
    const unwritable = [...rules.filter(({ access }) => access !== 'write').map(({ path }) => path), ...hidden]
    const carved = unwritable.flatMap((path) => between('/', path))
    const holders = globs.flatMap(({ directory }) => [...between('/', directory), directory])
    const writable = rules.filter(({ access, path }) => access === 'write' && path !== '/').map(({ path }) => path)
    const pinned = [...new Set([...writable, ...[...carved, ...holders].filter(isWritable)])]
    return pinned.map((path) => `(deny file-write-unlink ${this.#literal(path)})`)
  }

  #protect(directory: string, name: string): string {
    return `(deny ${WRITE} ${this.#matching(directory, nameRegexes(anyDirectory(depthOf(directory)), name))})`
  }

  #isWritableIn(directory: string): boolean {
    const { rules } = this.#files
    return rules.some(
      ({ access, path }) => access === 'write' && (isWithin(directory, path) || isWithin(path, directory)),
    )
  }

  /** Of what is in the directory, what one of the expressions matches. */
  #matching(directory: string, regexes: readonly string[], ...also: readonly string[]): string {
    const any = regexes.map((regex) => `(regex #"${regex}")`).join(' ')
    const within = directory === '/' ? [] : [this.#subpath(directory)]
    return `(require-all ${[...also, ...within].join(' ')} (require-any ${any}))`
  }

  /** What does not exist yet may become a directory. */
  #target({ path, exists, isDirectory }: FileRule): string {
    if (path === '/') return '(regex #"^/")'
    return exists && !isDirectory ? this.#literal(path) : this.#subpath(path)
  }

  #literal(path: string): string {
    return `(literal ${this.#parameters.reference(path)})`
  }

  #subpath(path: string): string {
    return `(subpath ${this.#parameters.reference(path)})`
  }
}
