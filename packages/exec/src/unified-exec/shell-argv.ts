import type { EnvironmentInfo } from '@waldo/protocol'
import { InvalidCall } from '../conversation/invalid-call.ts'

type ShellKind = 'bash' | 'zsh' | 'sh' | 'powershell' | 'cmd'

export interface ShellRequest {
  readonly cmd: string
  readonly shell?: string | undefined
  readonly login?: boolean | undefined
}

export interface ShellSettings {
  readonly environmentId: string
  readonly reported: EnvironmentInfo['shell']
  readonly allowLogin: boolean
}

/** The argv that runs a script: with the shell that the environment has, for only that one is known to be there. */
export function shellArgv({ cmd, shell, login }: ShellRequest, settings: ShellSettings): readonly string[] {
  const { reported, allowLogin, environmentId } = settings
  const kind = shellKind(reported.path) ?? shellKind(reported.name) ?? 'sh'
  if (shell !== undefined && shell !== '' && shellKind(shell) !== kind) {
    throw new InvalidCall(`environment \`${environmentId}\` only supports \`${reported.name}\``)
  }
  if (login === true && !allowLogin) {
    throw new InvalidCall('login shell is disabled by config; omit `login` or set it to false.')
  }
  const isLogin = login ?? allowLogin
  switch (kind) {
    case 'powershell':
      return [reported.path, ...(isLogin ? [] : ['-NoProfile']), '-Command', cmd]
    case 'cmd':
      return [reported.path, '/c', cmd]
    default:
      return [reported.path, isLogin ? '-lc' : '-c', cmd]
  }
}

/** By the name of the file: `/opt/x/bash` and `bash.exe` are both bash. */
export function shellKind(path: string): ShellKind | undefined {
  const name = path.split(/[\\/]/).at(-1)!
  const stem = name.replace(/\.[^.]*$/, '').toLowerCase()
  switch (stem) {
    case 'bash':
    case 'zsh':
    case 'sh':
    case 'cmd':
      return stem
    case 'pwsh':
    case 'powershell':
      return 'powershell'
    default:
      return undefined
  }
}
