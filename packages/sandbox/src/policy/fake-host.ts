import { fromPosixPath, type PermissionEntry, type SandboxIntent } from '@waldo/protocol'
import { bindPolicy, type Policy } from './bind-policy.ts'
import type { HostFacts, ResolvedPath } from './host-facts.ts'
import { child, normalize, parentOf } from './posix-path.ts'

/** For tests: a machine that is a table. `/` at the end is a directory, `-> x` a link, anything else the text of a file. */
export class FakeHost implements HostFacts {
  readonly platformDirectories: readonly string[]
  readonly temporaryDirectory: string | undefined
  readonly #nodes = new Map<string, string>([['/', '/']])

  constructor(
    tree: Readonly<Record<string, string>>,
    { tmpdir, platform = [] }: { tmpdir?: string; platform?: readonly string[] } = {},
  ) {
    this.temporaryDirectory = tmpdir
    this.platformDirectories = platform
    for (const [path, what] of Object.entries(tree)) {
      for (let at = parentOf(path); at !== '/'; at = parentOf(at)) {
        if (!this.#nodes.has(at)) this.#nodes.set(at, '/')
      }
      this.#nodes.set(path, what)
    }
  }

  resolve(path: string, links: readonly string[] = []): ResolvedPath {
    let at = '/'
    const names = path.split('/').filter((name) => name !== '')
    for (const [index, name] of names.entries()) {
      const next = child(at, name)
      const what = this.#nodes.get(next)
      const rest = names.slice(index + 1)
      if (what?.startsWith('-> ') && links.length < 40) {
        const target = what.slice(3)
        const followed = target.startsWith('/') ? target : `${at}/${target}`
        return this.resolve(normalize([followed, ...rest].join('/'))!, [...links, next])
      }
      if (what === undefined || what.startsWith('-> ')) {
        return { path: [next, ...rest].join('/'), exists: false, isDirectory: false, links }
      }
      at = next
    }
    return { path: at, exists: true, isDirectory: this.#nodes.get(at) === '/', links }
  }

  gitDirectories(pointer: string): readonly string[] {
    const text = this.#nodes.get(pointer) ?? ''
    return text.startsWith('gitdir: ') ? text.slice('gitdir: '.length).split(' ') : []
  }
}

export const at = (path: string): PermissionEntry['path'] => ({ type: 'path', path: fromPosixPath(path) })
export const glob = (pattern: string): PermissionEntry => ({ path: { type: 'glob_pattern', pattern }, access: 'deny' })
export const special = (kind: 'root' | 'minimal' | 'tmpdir' | 'slash_tmp'): PermissionEntry['path'] => ({
  type: 'special',
  value: { kind },
})
export const roots = (subpath?: string): PermissionEntry['path'] => ({
  type: 'special',
  value: { kind: 'project_roots', ...(subpath !== undefined && { subpath }) },
})

export interface Given extends Partial<Omit<SandboxIntent, 'cwd' | 'workspaceRoots' | 'temporaryDirectories'>> {
  readonly entries: readonly PermissionEntry[]
  readonly cwd?: string
  readonly roots?: readonly string[]
  readonly temporaries?: readonly string[]
  readonly globDepth?: number
}

export function intentOf({ entries, cwd, roots = [], temporaries, globDepth, ...rest }: Given): SandboxIntent {
  return {
    permissions: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries,
        ...(globDepth !== undefined && { glob_scan_max_depth: globDepth }),
      },
      network: 'restricted',
    },
    windowsSandboxLevel: 'disabled',
    useLegacyLandlock: false,
    sandboxOverride: undefined,
    policyContext: undefined,
    ...rest,
    cwd: cwd === undefined ? undefined : fromPosixPath(cwd),
    workspaceRoots: roots.map((root) => fromPosixPath(root)),
    temporaryDirectories: temporaries?.map((path) => fromPosixPath(path)),
  }
}

export function bind(given: Given, host: HostFacts): Policy {
  return bindPolicy(intentOf(given), host, { cwd: undefined })
}

/** What a profile lets be done with a path. */
export function accessTo(policy: Policy, path: string): 'none' | 'read' | 'write' {
  return policy.files ? policy.files.decide(path).access : 'write'
}
