import { containsPath, type EnvironmentInfo, type PathUri, type Permissions, parent, samePath } from '@waldo/protocol'
import type { SandboxPlace } from '../permissions/sandbox-requests.ts'
import { isWritable } from '../permissions/writable-paths.ts'

/**
 * The directories whose names the user gave, by which files in them are judged, shown and remembered. Workspace roots
 * come first, as it is they that are judged by. Left out is what a model could put a link in the place of: whatever is
 * below a workspace root, and a directory to work in beside which it may write. (It cannot replace the roots themselves:
 * in the sandbox they are mounts.) If they are no links, the files in them have the same names without.
 */
export function homesOf(
  permissions: Permissions,
  place: SandboxPlace & Pick<EnvironmentInfo, 'temporaryDirectories'>,
): PathUri[] {
  const { cwd, workspaceRoots } = place
  const isBelow = (path: PathUri, root: PathUri) => containsPath(root, path) && !samePath(root, path)
  const roots = workspaceRoots.filter((path) => !workspaceRoots.some((root) => isBelow(path, root)))
  return isWritable(parent(cwd) ?? cwd, permissions, place) ? roots : [...roots, cwd]
}
