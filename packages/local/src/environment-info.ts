import { homedir, hostname, tmpdir, userInfo } from 'node:os'
import { type Capabilities, type EnvironmentInfo, fromPosixPath } from '@waldo/protocol'

/** Shells that clients know how to talk to. */
const KNOWN_SHELLS = new Set(['bash', 'zsh', 'sh'])

/** What this machine is, to whoever runs commands on it. */
export function environmentInfo(executorVersion: string, capabilities: Capabilities): EnvironmentInfo {
  const home = attempt(homedir)
  const temporary = process.env.TMPDIR
  return {
    shell: findShell(),
    executorVersion,
    providerId: providerId(),
    cwd: fromPosixPath(process.cwd()),
    userHomeDir: home ? fromPosixPath(home) : null,
    tempDir: fromPosixPath(tmpdir()),
    temporaryDirectories: temporary ? [fromPosixPath(temporary)] : [],
    prependPathDirs: [],
    platformOs: process.platform === 'darwin' ? 'macos' : 'linux',
    capabilities,
  }
}

/** The user's own shell if a client can use it, otherwise the best that is installed. */
function findShell(): { name: string; path: string } {
  const own = attempt(() => userInfo().shell)
  for (const path of [own, process.env.SHELL, '/bin/bash', '/usr/bin/bash', '/bin/zsh']) {
    const name = path?.split('/').at(-1) ?? ''
    if (path?.startsWith('/') && KNOWN_SHELLS.has(name) && Bun.which(path)) return { name, path }
  }
  return { name: 'sh', path: '/bin/sh' }
}

/** Opaque and stable: the same for one user on one machine. */
function providerId(): string {
  const digest = new Bun.CryptoHasher('sha256').update(`waldo ${hostname()} ${process.getuid?.()}`).digest('hex')
  return `sha256:${digest}`
}

/** A user without an entry in the system's table is no reason to fail. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
