import { type PathUri, samePath } from '@waldo/protocol'
import type { Environment } from '../environment.ts'
import { ExecError } from '../errors.ts'
import { pathFromText } from './path-from-text.ts'

/** What may be done in an environment. Each stands for itself: files without commands is a choice, too. */
export interface EnvironmentCapabilities {
  readonly exec: boolean
  readonly files: boolean
  readonly http: boolean
}

export interface SelectedEnvironment {
  readonly environmentId: string
  readonly cwd: PathUri
  readonly workspaceRoots: readonly PathUri[]
  readonly capabilities: EnvironmentCapabilities
}

/** Where to work, the preferred place first. */
export type EnvironmentSelection = readonly SelectedEnvironment[]

/** One environment as a client names it. Paths are absolute, of any system, or `file:` URIs. */
export interface EnvironmentChoice {
  readonly environmentId: string
  readonly cwd: string
  /** The `cwd` alone if nothing is said. */
  readonly workspaceRoots?: readonly string[] | undefined
  /** Everything if nothing is said. */
  readonly capabilities?: Partial<EnvironmentCapabilities> | undefined
}

/** Where selected ids are looked up: an `EnvironmentManager`. */
export interface KnownEnvironments {
  readonly defaultId: string | undefined
  get(id: string): Environment | undefined
}

const MAX_WORKSPACE_ROOTS = 256

/** Throws `SELECTION_INVALID` unless each is known and named once. */
export function select(choices: readonly EnvironmentChoice[], known: KnownEnvironments): EnvironmentSelection {
  const ids = new Set<string>()
  return choices.map(({ environmentId, cwd, workspaceRoots = [cwd], capabilities }) => {
    if (ids.has(environmentId)) throw invalid(`duplicate turn environment id \`${environmentId}\``)
    ids.add(environmentId)
    if (!known.get(environmentId)) throw unknownId(environmentId)
    if (workspaceRoots.length > MAX_WORKSPACE_ROOTS) {
      throw invalid(`environment \`${environmentId}\` has ${workspaceRoots.length} workspace roots; 256 are allowed`)
    }
    return {
      environmentId,
      cwd: pathFromText(cwd),
      workspaceRoots: workspaceRoots.map(pathFromText),
      capabilities: { exec: true, files: true, http: true, ...capabilities },
    }
  })
}

/** The same with another directory. A workspace root that was the old one moves along. */
export function moved(selected: SelectedEnvironment, cwd: PathUri): SelectedEnvironment {
  const workspaceRoots = selected.workspaceRoots.map((root) => (samePath(root, selected.cwd) ? cwd : root))
  return { ...selected, cwd, workspaceRoots }
}

export function unknownId(id: string): ExecError {
  return invalid(`unknown turn environment id \`${id}\``)
}

function invalid(message: string): ExecError {
  return new ExecError('SELECTION_INVALID', message)
}
