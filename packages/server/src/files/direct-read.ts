import type * as Files from '@waldo/local/files'

/** What is found there is not what it is for a sandbox: each process has its own, and some of it is the executor's. */
const NEVER = ['/proc', '/sys', '/dev', '/run']

/**
 * The whole of a small file that no rule could be against, because the profile lets everything be read; undefined if that
 * takes a helper. The path is followed first, and what it leads to is then opened in a way that follows nothing: whoever
 * changes a link in between does not lead us to what is not to be read.
 */
export function readDirectly(
  files: typeof Files,
  path: Files.NativePath,
  { followSymlinks, hidden }: { followSymlinks: boolean; hidden: readonly string[] },
): Buffer | undefined {
  try {
    const real = files.realPath(path)
    // There is a link on the way, or the path is spelled so that it would not be recognized.
    if (!followSymlinks && files.displayPath(real) !== files.displayPath(path)) return undefined
    const hides = (directory: string) => isWithin(directory, files.displayPath(real))
    if (NEVER.some(hides) || hidden.some((own) => hides(files.displayPath(files.realPath(own))))) return undefined
    return files.readSmallFile(real, { followSymlinks: false })
  } catch {
    return undefined // The helper meets the same, and says what it is.
  }
}

function isWithin(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}/`)
}
