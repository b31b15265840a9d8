import type { PathUri, Permissions } from '@waldo/protocol'
import type { SandboxPlace } from './sandbox-requests.ts'
import { isWritable } from './writable-paths.ts'

/**
 * The profile with these kept from being written: the rules, for whoever can write them decides what runs next. What
 * cannot be written anyway is not mentioned: a word about it could allow to read it.
 */
export function keepingPaths(permissions: Permissions, paths: readonly PathUri[], place: SandboxPlace): Permissions {
  if (permissions.type !== 'managed' || permissions.file_system.type !== 'restricted') return permissions
  const writable = paths.filter((path) => isWritable(path, permissions, { ...place, temporaryDirectories: [] }))
  if (writable.length === 0) return permissions
  const kept = writable.map((path) => ({ path: { type: 'path' as const, path }, access: 'read' as const }))
  const entries = [...permissions.file_system.entries, ...kept]
  return { ...permissions, file_system: { ...permissions.file_system, entries } }
}
