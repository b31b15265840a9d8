import type { EnvironmentInfo } from '@waldo/protocol'
import { InvalidCall } from '../conversation/invalid-call.ts'

type ReportedShell = EnvironmentInfo['shell']
/** Who reads scripts alike, and takes the same options. */
export type ShellFamily = 'posix' | 'powershell' | 'cmd'

export interface ShellRequest {
  readonly cmd: string
  readonly shell?: string | undefined
  readonly login?: boolean | undefined
}

export interface ShellSettings {
  readonly environmentId: string
  readonly reported: ReportedShell
  readonly allowLogin: boolean
}

/** The argv that runs a script: with the shell that the environment has, for only that one is known to be there. */
export function shellArgv({ cmd, shell, login }: ShellRequest, settings: ShellSettings): readonly string[] {
  const { reported, allowLogin, environmentId } = settings
  if (shell && ![stem(reported.path), stem(reported.name)].includes(stem(shell))) {
    throw new InvalidCall(`environment \`${environmentId}\` only supports \`${reported.name}\``)
  }
  if (login === true && !allowLogin) {
    throw new InvalidCall('login shell is disabled by config; omit `login` or set it to false.')
  }
  const isLogin = login ?? allowLogin
  switch (shellFamily(reported)) {
    case 'powershell':
      return [reported.path, ...(isLogin ? [] : ['-NoProfile']), '-Command', cmd]
    case 'cmd':
      return [reported.path, '/c', cmd]
    case 'posix':
      return [reported.path, isLogin ? '-lc' : '-c', cmd]
  }
}

export function shellFamily({ path }: ReportedShell): ShellFamily {
  const name = stem(path)
  if (name === 'pwsh' || name === 'powershell') return 'powershell'
  return name === 'cmd' ? 'cmd' : 'posix'
}

/** The name of the file: `/opt/x/bash` and `bash.exe` are both bash. */
function stem(path: string): string {
  const name = path.split(/[\\/]/).at(-1)!
  return name.replace(/\.[^.]*$/, '').toLowerCase()
}
