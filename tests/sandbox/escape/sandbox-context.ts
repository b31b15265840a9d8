import { pathToFileURL } from 'node:url'

/** An entry in short (`deny /path`, `write :project_roots/sub`, `deny glob /path/**`), or as it travels. */
export type Entry = string | Record<string, unknown>

const READ_ALL = ['read :root']
const WRITE_WORKSPACE = [...READ_ALL, 'write :project_roots']

const PROFILES = {
  ro: () => READ_ALL,
  ws: () => WRITE_WORKSPACE,
  proxy: () => WRITE_WORKSPACE,
  min: () => ['read :minimal', 'write :project_roots'],
  deny: (ws: string) => [...WRITE_WORKSPACE, `deny ${ws}/secret`, `deny glob ${ws}/**/*.env`],
  nested: (ws: string) => [...WRITE_WORKSPACE, `read ${ws}/sub/prot`],
}
export type ProfileName = keyof typeof PROFILES

/** What can only be in an output or an answer if what the profile hides has been read. */
export const HIDDEN_TEXT: Partial<Record<ProfileName, RegExp>> = { deny: /TOPSECRET/, min: /^keep\r?$/m }

export interface SandboxOptions {
  readonly profile: ProfileName
  readonly entries?: readonly Entry[]
  readonly roots?: readonly string[]
}

/** The `sandbox` member of a call. Every member may be changed: the next call gets another object. */
export function sandboxContext({ profile, entries = [], roots }: SandboxOptions, ws: string) {
  return {
    permissions: {
      type: 'managed',
      file_system: {
        type: 'restricted',
        entries: [...PROFILES[profile](ws), ...entries].map(wireEntry),
      } as Record<string, unknown> & { entries: Record<string, unknown>[] },
      // The proxy is the only way out of a managed network, although the network is on.
      network: profile === 'proxy' ? 'enabled' : 'restricted',
    } as Record<string, unknown> & { file_system: { entries: Record<string, unknown>[] } },
    cwd: uri(ws),
    workspaceRoots: (roots ?? [ws]).map(uri),
    windowsSandboxLevel: 'disabled',
  }
}
export type SandboxContext = ReturnType<typeof sandboxContext>

export const uri = (path: string): string => pathToFileURL(path).href

function wireEntry(entry: Entry): Record<string, unknown> {
  if (typeof entry !== 'string') return { ...entry }
  const [, access, glob, target] = /^(\w+) (glob )?(.+)$/s.exec(entry) ?? []
  if (!access || !target) throw new Error(`not an entry: ${entry}`)
  if (glob) return { path: { type: 'glob_pattern', pattern: target }, access }
  if (!target.startsWith(':')) return { path: { type: 'path', path: uri(target) }, access }
  const [kind, ...below] = target.slice(1).split('/')
  const subpath = below.length > 0 ? { subpath: below.join('/') } : {}
  return { path: { type: 'special', value: { kind, ...subpath } }, access }
}

/** The members of `process/start` for a proxy that lets one name through, and asks nobody for long. */
export function managedNetwork(options: { domains: Record<string, 'allow' | 'deny'>; allowLocalBinding: boolean }) {
  return {
    enforceManagedNetwork: true,
    networkProxy: {
      proxy: {
        enabled: true,
        enableSocks5: true,
        enableSocks5Udp: false,
        allowUpstreamProxy: false,
        dangerouslyAllowAllUnixSockets: false,
        mode: 'full',
        unixSockets: null,
        ...options,
      },
      environmentId: null,
      executionId: null,
      policyDecisionTimeoutMs: 2000,
    },
  }
}
