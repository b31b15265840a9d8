import { type SandboxContext, uri } from './sandbox-context.ts'

interface HostileProfile {
  readonly title: string
  /** `either`: what cannot be refused has to be enforced. `refused`: it means nothing, or too much. */
  readonly outcome: 'refused' | 'enforced' | 'either'
  readonly change: (sandbox: SandboxContext, ws: string) => void
}

type Wire = Record<string, unknown>
const add =
  (...entries: Wire[]) =>
  (sandbox: SandboxContext) => {
    sandbox.permissions.file_system.entries.push(...entries)
  }
const path = (value: unknown, access = 'deny'): Wire => ({ path: { type: 'path', path: value }, access })
const glob = (pattern: unknown, access = 'deny'): Wire => ({ path: { type: 'glob_pattern', pattern }, access })
const special = (value: unknown, access = 'read'): Wire => ({ path: { type: 'special', value }, access })
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))
const permission = (more: Wire) => (sandbox: SandboxContext) => void Object.assign(sandbox.permissions, more)
const files = (more: Wire) => (sandbox: SandboxContext) => void Object.assign(sandbox.permissions.file_system, more)
const context = (more: Wire) => (sandbox: SandboxContext) => void Object.assign(sandbox, more)

/** Each is laid over the profile `deny`. */
export const HOSTILE_PROFILES: readonly HostileProfile[] = [
  // Much of it.
  {
    title: '10,000 missing paths',
    outcome: 'either',
    change: (sandbox, ws) => add(...times(10_000, (n) => path(uri(`${ws}/n${n}`))))(sandbox),
  },
  {
    title: '10,000 times the same path',
    outcome: 'either',
    change: (sandbox, ws) => add(...times(10_000, () => path(uri(`${ws}/sub`), 'read')))(sandbox),
  },
  {
    title: '10,000 workspace roots',
    outcome: 'either',
    change: (sandbox, ws) => context({ workspaceRoots: times(10_000, (n) => uri(`${ws}/r${n}`)) })(sandbox),
  },
  {
    title: 'a workspace root a thousand times',
    outcome: 'either',
    change: (sandbox, ws) => context({ workspaceRoots: times(1000, () => uri(ws)) })(sandbox),
  },
  {
    title: '1,000 globs',
    outcome: 'either',
    change: (sandbox, ws) => add(...times(1000, (n) => glob(`${ws}/**/x${n}*`)))(sandbox),
  },
  { title: 'a glob of 1 MB', outcome: 'either', change: add(glob('a'.repeat(1_000_000))) },
  { title: 'a glob of 1 MB of stars', outcome: 'either', change: add(glob('*'.repeat(1_000_000))) },
  { title: 'a path of 1 MB', outcome: 'either', change: add(path(`file:///${'a'.repeat(1_000_000)}`)) },
  { title: 'a path of 5,000 components', outcome: 'either', change: add(path(`file://${'/a'.repeat(5000)}`)) },
  {
    title: 'a writable path of 5,000 components',
    outcome: 'either',
    change: add(path(`file://${'/a'.repeat(5000)}`, 'write')),
  },
  // Patterns that take for ever if one goes about it naively.
  {
    title: 'a glob of doubled stars',
    outcome: 'either',
    change: (sandbox, ws) => add(glob(`${ws}/${'**/'.repeat(200)}a`))(sandbox),
  },
  {
    title: 'a glob of stars with letters between',
    outcome: 'either',
    change: (sandbox, ws) => add(glob(`${ws}/${'*a'.repeat(60)}b`))(sandbox),
  },
  {
    title: 'a glob of braces',
    outcome: 'either',
    change: (sandbox, ws) => add(glob(`${ws}/${'{a,b}'.repeat(40)}`))(sandbox),
  },
  {
    title: 'a glob of nested braces',
    outcome: 'either',
    change: (sandbox, ws) => add(glob(`${ws}/${'{a,'.repeat(5000)}b${'}'.repeat(5000)}`))(sandbox),
  },
  {
    title: 'a glob of open brackets',
    outcome: 'either',
    change: (sandbox, ws) => add(glob(`${ws}/${'['.repeat(5000)}`))(sandbox),
  },
  { title: 'a glob of the whole disk', outcome: 'either', change: add(glob('/**/*.sbx-none')) },
  { title: 'a glob with a NUL', outcome: 'refused', change: (sandbox, ws) => add(glob(`${ws}/a\0b`))(sandbox) },
  { title: 'an empty glob', outcome: 'either', change: add(glob('')) },
  {
    title: 'a glob that climbs',
    outcome: 'either',
    change: (sandbox, ws) => add(glob(`${ws}/sub/../**/*.env`))(sandbox),
  },
  // What has no meaning.
  {
    title: 'a glob that may be written to',
    outcome: 'refused',
    change: (sandbox, ws) => add(glob(`${ws}/../**`, 'write'))(sandbox),
  },
  {
    title: 'a glob that may be read',
    outcome: 'refused',
    change: (sandbox, ws) => add(glob(`${ws}/**`, 'read'))(sandbox),
  },
  { title: 'a glob that is a number', outcome: 'refused', change: add(glob(7)) },
  { title: 'a path with a NUL', outcome: 'refused', change: add(path('file:///tmp/a%00b')) },
  { title: 'a path of Windows', outcome: 'refused', change: add(path('file:///C:/Users/x', 'write')) },
  { title: 'a path of another machine', outcome: 'refused', change: add(path('file://server/share', 'write')) },
  { title: 'a web address', outcome: 'refused', change: add(path('http://localhost/', 'write')) },
  { title: 'a relative path', outcome: 'refused', change: add(path('../out', 'write')) },
  { title: 'an empty path', outcome: 'refused', change: add(path('', 'write')) },
  { title: 'a home directory in short', outcome: 'refused', change: add(path('~/x', 'write')) },
  { title: 'a path that is null', outcome: 'refused', change: add(path(null)) },
  { title: 'an encoded slash', outcome: 'refused', change: add(path('file:///tmp%2Fx', 'write')) },
  { title: 'an unknown kind', outcome: 'refused', change: add(special({ kind: 'everything' }, 'write')) },
  {
    title: 'a kind of a newer peer',
    outcome: 'enforced',
    change: add(special({ kind: 'unknown', path: ':new' }, 'write')),
  },
  {
    title: 'an unknown type of path',
    outcome: 'refused',
    change: add({ path: { type: 'regex', pattern: '.*' }, access: 'write' }),
  },
  { title: 'an unknown access', outcome: 'refused', change: (sandbox, ws) => add(path(uri(ws), 'admin'))(sandbox) },
  {
    title: 'an entry that is null',
    outcome: 'refused',
    change: (sandbox) => sandbox.permissions.file_system.entries.push(null as never),
  },
  { title: 'entries that are no list', outcome: 'refused', change: files({ entries: {} }) },
  { title: 'no entries at all', outcome: 'refused', change: files({ entries: undefined }) },
  { title: 'an unknown type of file system', outcome: 'refused', change: files({ type: 'open' }) },
  { title: 'an unknown type of permissions', outcome: 'refused', change: permission({ type: 'none' }) },
  { title: 'an unknown network', outcome: 'refused', change: permission({ network: 'some' }) },
  { title: 'no network', outcome: 'refused', change: permission({ network: undefined }) },
  { title: 'permissions that are null', outcome: 'refused', change: context({ permissions: null }) },
  { title: 'a scan depth of 0', outcome: 'refused', change: files({ glob_scan_max_depth: 0 }) },
  { title: 'a scan depth of -1', outcome: 'refused', change: files({ glob_scan_max_depth: -1 }) },
  { title: 'a scan depth of 1.5', outcome: 'refused', change: files({ glob_scan_max_depth: 1.5 }) },
  { title: 'a scan depth without end', outcome: 'either', change: files({ glob_scan_max_depth: 2 ** 53 }) },
  { title: 'no Windows level', outcome: 'refused', change: context({ windowsSandboxLevel: undefined }) },
  { title: 'a relative workspace root', outcome: 'refused', change: context({ workspaceRoots: ['.'] }) },
  { title: 'workspace roots that are no list', outcome: 'refused', change: context({ workspaceRoots: 'file:///' }) },
  // What could be taken for something else.
  {
    title: 'a subpath that climbs out',
    outcome: 'refused',
    change: add(special({ kind: 'project_roots', subpath: '../out' }, 'write')),
  },
  {
    title: 'a subpath that is absolute',
    outcome: 'refused',
    change: add(special({ kind: 'project_roots', subpath: '/' }, 'write')),
  },
  {
    title: 'a subpath with a NUL',
    outcome: 'refused',
    change: add(special({ kind: 'project_roots', subpath: 'a\0b' }, 'write')),
  },
  {
    title: 'a denied path that climbs',
    outcome: 'either',
    change: (sandbox, ws) => without(sandbox, path(`${uri(ws)}/sub/../secret`)),
  },
  {
    title: 'a denied path with a slash at its end',
    outcome: 'either',
    change: (sandbox, ws) => without(sandbox, path(`${uri(ws)}/secret/`)),
  },
  {
    title: 'a denied path with doubled slashes',
    outcome: 'either',
    change: (sandbox, ws) => without(sandbox, path(`${uri(ws)}//secret`)),
  },
  {
    title: 'a denied path in capital percent signs',
    outcome: 'either',
    change: (sandbox, ws) => without(sandbox, path(`${uri(ws)}/%73ecret`)),
  },
  {
    title: 'access spelled "none"',
    outcome: 'enforced',
    change: (sandbox, ws) => without(sandbox, path(uri(`${ws}/secret`), 'none')),
  },
]

/** The denial of `secret` in another spelling, instead of the plain one. */
function without(sandbox: SandboxContext, instead: Wire): void {
  const { entries } = sandbox.permissions.file_system
  entries.splice(
    entries.findIndex(({ access }) => access === 'deny'),
    1,
    instead,
  )
}
