import type { PathUri } from '@waldo/protocol'
import type { PatchedFiles } from './patched-files.ts'
import { stubbornly } from './patient-calls.ts'

/** Removes temporary files, all at once. Returns those that could not be removed: the patch is written nevertheless. */
export async function removeAll(files: PatchedFiles, paths: readonly PathUri[]): Promise<PathUri[]> {
  const results = await Promise.allSettled(paths.map((path) => stubbornly(() => files.remove(path))))
  return paths.filter((_, index) => results[index]!.status === 'rejected')
}
