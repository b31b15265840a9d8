import type { FileOptions, FileSystem } from '@waldo/environment'
import { conventionOf, type DecodeError, isOpaque, joinPath, type PathUri, pathUri, toPosixPath } from '@waldo/protocol'
import { shortened } from '../output/shortened.ts'
import { SearchEffort } from './find-lines.ts'
import type { Patch, Section } from './patch.ts'
import { PatchError } from './patch-error.ts'
import { PlannedFiles } from './planned-files.ts'
import { sameBytes } from './same-bytes.ts'
import { type Site, survey } from './survey.ts'
import type { VerifiedPatch } from './verified-patch.ts'

export interface VerifyOptions extends FileOptions {
  readonly files: FileSystem
  /** What the paths in the patch are relative to. */
  readonly cwd: PathUri
  /**
   * Directories by the names that people gave them, perhaps of links: what is really in one of them (the first that
   * fits) is told by that name, and everything else by where it really is. Never one that whoever wrote the patch could
   * choose or replace: it would choose what others take the files for.
   */
  readonly homes?: readonly PathUri[]
  /** Without it, directories that are not there are made, `cwd` too. With it, `cwd` must be there and be one. */
  readonly requireDirectory?: true
}

/** More than any system takes; a character may be written as three. Directories on the way are looked at one by one. */
const MAX_URI_CHARACTERS = 3 * 4096
const MAX_DIRECTORIES = 256

/** Failures that are told at a time. */
const MAX_TOLD = 5

/**
 * Finds out what a patch would do, without doing it. Everything is looked at in one go: one round trip, however many
 * files there are.
 */
export async function verifyPatch(patch: Patch, options: VerifyOptions): Promise<VerifiedPatch> {
  const { cwd, homes = [] } = options
  if (patch.sections.length === 0) throw new PatchError('INVALID', 'No files were modified.')
  requirePatchable(cwd, cwd)
  const paths = new Map<string, PathUri>()
  for (const name of patch.sections.flatMap(namesOf)) paths.set(name, resolve(cwd, name))
  const { sites, directory } = await survey([...paths.values()], { ...options, homes })
  refuseOneFileTwice([...sites.values()])
  const planned = new PlannedFiles((name) => sites.get(paths.get(name)!)!)
  planSections(patch.sections, planned)
  const changes = planned.changes()
  return {
    cwd,
    directory,
    changes,
    touched: [
      ...new Set(changes.flatMap((change) => (change.kind === 'move' ? [change.path, change.to] : [change.path]))),
    ],
    sites,
  }
}

/**
 * Where case does not matter, two names are one file: written by one and removed by the other, it would be gone. It
 * cannot be asked which file it is; so two that differ in nothing but the case of their names are taken for one.
 */
function refuseOneFileTwice(sites: readonly Site[]): void {
  const known = new Map<string, Site>()
  for (const site of sites) {
    const path = conventionOf(site.real) === 'posix' ? toPosixPath(site.real) : site.real
    const key = typeof path === 'string' ? path.toLowerCase() : site.real
    const other = known.get(key) ?? site
    known.set(key, other)
    if (other.real === site.real || other.found.kind !== 'file' || site.found.kind !== 'file') continue
    if (other.found.times !== site.found.times || !sameBytes(other.found.content, site.found.content)) continue
    throw new PatchError(
      'MISMATCH',
      `${other.path} and ${site.path} are one file here, or look like it: use one spelling, and a command to change it`,
    )
  }
}

/** All that is wrong is told at once: whoever wrote the patch then writes one more, not one for each mistake. */
function planSections(sections: readonly Section[], planned: PlannedFiles): void {
  const effort = new SearchEffort()
  const failures: PatchError[] = []
  for (const section of sections) {
    try {
      planned.plan(section, effort)
    } catch (error) {
      if (!PatchError.is(error)) throw error
      failures.push(error)
      if (failures.length === MAX_TOLD) break
    }
  }
  if (failures.length === 1) throw failures[0]
  if (failures.length === 0) return
  throw new PatchError('MISMATCH', failures.map(({ message }) => message).join('\n'))
}

function namesOf(section: Section): string[] {
  return section.kind === 'update' && section.moveTo !== undefined ? [section.path, section.moveTo] : [section.path]
}

function resolve(cwd: PathUri, name: string): PathUri {
  let path: PathUri
  try {
    // Canonical, so that two spellings of one path are one.
    path = pathUri(joinPath(cwd, name))
  } catch (error) {
    throw new PatchError('INVALID', `'${name}' is not a path here: ${(error as DecodeError).message}`, { cause: error })
  }
  requirePatchable(path, name)
  return path
}

function requirePatchable(path: PathUri, name: string): void {
  // `file:///a/b` has three slashes before its first name, and one directory below the root.
  const directories = path.split('/').length - 4
  if (path.length > MAX_URI_CHARACTERS || directories > MAX_DIRECTORIES) {
    throw new PatchError(
      'INVALID',
      `the path '${shortened(name, 100)}' is too long, or leads through more than ${MAX_DIRECTORIES} directories`,
    )
  }
  if (!isOpaque(path)) return
  throw new PatchError('INVALID', `'${name}' cannot be patched: it begins like a drive of Windows; use a command`)
}
