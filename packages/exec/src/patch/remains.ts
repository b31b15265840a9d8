import type { PathUri } from '@waldo/protocol'
import type { CommitAttempt } from './commit-attempt.ts'
import type { PatchedFiles } from './patched-files.ts'
import { sameBytes } from './same-bytes.ts'

/** What is on the disk after a patch that could neither be written nor undone, one line for each path. */
export async function remains({ placements, removals }: CommitAttempt, files: PatchedFiles): Promise<string> {
  const targets = [
    ...placements.map(({ target, before, after }) => describeFile(files, target, { before, after })),
    ...removals.map(({ target, before }) => describeFile(files, target, { before, after: undefined })),
  ]
  const leftovers = [...placements, ...removals].flatMap((each) => each.leftovers)
  const lines = await Promise.all([...targets, ...leftovers.map((path) => describeLeftover(files, path))])
  return lines.filter((line) => line !== undefined).join('\n')
}

async function describeFile(
  files: PatchedFiles,
  path: PathUri,
  { before, after }: { before: Uint8Array | undefined; after: Uint8Array | undefined },
): Promise<string> {
  let found: Uint8Array | undefined
  try {
    found = await files.read(path)
  } catch (error) {
    return `${path}: unknown (${(error as Error).message})`
  }
  if (sameBytes(found, before)) return `${path}: as before the patch`
  if (sameBytes(found, after)) return `${path}: ${after ? 'as after the patch' : 'removed'}`
  return `${path}: ${found ? 'neither as before nor as after the patch' : 'missing'}`
}

async function describeLeftover(files: PatchedFiles, path: PathUri): Promise<string | undefined> {
  try {
    return (await files.read(path)) && `${path}: a temporary file of this patch`
  } catch (error) {
    return `${path}: perhaps a temporary file of this patch (${(error as Error).message})`
  }
}
