import { accessSync, constants, readFileSync } from 'node:fs'
import { homedir, tmpdir, userInfo } from 'node:os'
import { basename } from 'node:path'
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
    if (!path?.startsWith('/') || !KNOWN_SHELLS.has(basename(path))) continue
    if (attempt(() => accessSync(path, constants.X_OK) ?? true)) return { name: basename(path), path }
  }
  return { name: 'sh', path: '/bin/sh' }
}

/** Opaque and stable: the same machine and user, and nothing that could be turned back into either. */
function providerId(): string {
  const machine = attempt(() => readFileSync('/etc/machine-id', 'latin1').trim()) ?? 'unknown'
  const digest = new Bun.CryptoHasher('sha256').update(`waldo ${machine} ${process.getuid?.()}`).digest('hex')
  return `sha256:${digest}`
}

/** A user without an entry in the system's table, or a machine without an id, is no reason to fail. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
