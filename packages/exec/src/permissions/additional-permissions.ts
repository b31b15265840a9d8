import { joinPath, type PathUri } from '@waldo/protocol'

/** What a model asks for beyond what its sandbox allows, as it writes it. */
export interface RequestedPermissions {
  readonly network?: { readonly enabled?: boolean | undefined } | undefined
  readonly file_system?:
    | { readonly read?: readonly string[] | undefined; readonly write?: readonly string[] | undefined }
    | undefined
}

/** The same, with every path resolved and named once. */
export interface AdditionalPermissions {
  readonly network: boolean
  readonly read: readonly PathUri[]
  readonly write: readonly PathUri[]
}

/** Relative paths are meant from the directory of the command. Undefined if nothing is asked for in the end. */
export function resolvePermissions(requested: RequestedPermissions, cwd: PathUri): AdditionalPermissions | undefined {
  const paths = (given: readonly string[] = []) => [...new Set(given.map((path) => joinPath(cwd, path)))].sort()
  const write = paths(requested.file_system?.write)
  // Who may write may read.
  const read = paths(requested.file_system?.read).filter((path) => !write.includes(path))
  const network = requested.network?.enabled === true
  return network || read.length > 0 || write.length > 0 ? { network, read, write } : undefined
}

/** Everything that either allows. */
export function unitePermissions(a: AdditionalPermissions, b: AdditionalPermissions): AdditionalPermissions {
  const write = [...new Set([...a.write, ...b.write])].sort()
  const read = [...new Set([...a.read, ...b.read])].filter((path) => !write.includes(path)).sort()
  return { network: a.network || b.network, read, write }
}

export function coversPermissions(granted: AdditionalPermissions, wanted: AdditionalPermissions): boolean {
  return (
    (granted.network || !wanted.network) &&
    wanted.write.every((path) => granted.write.includes(path)) &&
    wanted.read.every((path) => granted.read.includes(path) || granted.write.includes(path))
  )
}
