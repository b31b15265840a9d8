import { ExecError } from '@waldo/environment'
import type { FsMetadata, PathUri } from '@waldo/protocol'
import type { ChosenEnvironment } from '../environments.ts'
import { explain } from '../explain.ts'
import { UsageError } from '../usage-error.ts'
import type { CopyAddress } from './copy-address.ts'
import { displayPath, sameNameIn } from './path-names.ts'

type PathAddress = Extract<CopyAddress, { kind: 'path' }>

/** A file or directory in some environment. */
export interface CopyPlace {
  readonly chosen: ChosenEnvironment
  readonly path: PathUri
  readonly prefix: string
}

export function show({ prefix, path }: CopyPlace): string {
  return `${prefix}${displayPath(path)}`
}

export async function placeOf({ chosen, path, prefix }: PathAddress): Promise<CopyPlace> {
  return { chosen, path: await chosen.path(path), prefix }
}

/** Undefined if there is nothing. */
export async function metadataOf(place: CopyPlace): Promise<FsMetadata | undefined> {
  try {
    return await place.chosen.environment.files.metadata(place.path)
  } catch (error) {
    if (ExecError.is(error, 'FILE_NOT_FOUND')) return undefined
    throw explain(error, show(place))
  }
}

/** Where a copy of `source` goes: into the target if that is a directory, else to the target itself. */
export async function targetFor(source: CopyPlace, isDirectory: boolean, to: PathAddress): Promise<CopyPlace> {
  const target = await placeOf(to)
  const found = await metadataOf(target)
  if (found?.isDirectory) return { ...target, path: sameNameIn(target.path, source.path) }
  if (isDirectory && found) throw new UsageError(`${show(target)} is a file; a directory cannot take its place`)
  if (!isDirectory && /\/$/.test(to.path)) throw new UsageError(`there is no directory ${show(target)}`)
  return target
}

/** For what has no name of its own. */
export async function namedTarget(to: PathAddress): Promise<CopyPlace> {
  const target = await placeOf(to)
  const found = await metadataOf(target)
  if (found?.isDirectory) throw new UsageError(`${show(target)} is a directory; say what the file is to be called`)
  return target
}
