import { parseServerUrl } from '@waldo/client'
import type { CommandTransport, Environment, RuntimePaths, UrlTransport } from '@waldo/environment'
import { environmentFactory } from './environment-factory.ts'

/** An address, an address with a token, or a command that talks on its standard input and output. */
export type ConnectTarget =
  | string
  | Omit<UrlTransport, 'kind'>
  | (Pick<CommandTransport, 'program'> & Partial<Omit<CommandTransport, 'kind' | 'program'>>)

export interface EnvironmentSettings {
  readonly id?: string | undefined
  /** Where processes start if nothing else is said. */
  readonly cwd?: string | undefined
}

/** An executor somewhere. Nothing is opened before it is used. */
export function connect(target: ConnectTarget, { id = 'remote', cwd }: EnvironmentSettings = {}): Environment {
  if (typeof target === 'string') return connect({ url: target }, { id, cwd })
  if ('url' in target) {
    // Whoever wrote it wants to know now what is wrong with it.
    parseServerUrl(target.url, target.token !== undefined || target.tokenFile !== undefined)
    return environmentFactory.create(id, { kind: 'url', ...target }, { cwd })
  }
  const command = { args: [], env: {}, ...target, kind: 'command' as const }
  return environmentFactory.create(id, command, { cwd })
}

/** This machine. */
export function local({
  id = 'local',
  cwd,
  runtime,
}: EnvironmentSettings & { runtime?: RuntimePaths } = {}): Environment {
  return environmentFactory.create(id, { kind: 'local' }, { cwd, runtime })
}
