import { EnvironmentManager, type EnvironmentProvider, type RuntimePaths } from '@waldo/environment'
import { environmentsFrom } from '@waldo/environment/node'
import { environmentFactory } from './environment-factory.ts'

export interface ManagerSettings {
  /** Instead of what the user has configured. */
  readonly provider?: EnvironmentProvider | undefined
  /** Where `environments.toml` is; `$WALDO_HOME`, `$XDG_CONFIG_HOME/waldo` or `~/.config/waldo` if nothing is said. */
  readonly configDir?: string | undefined
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
  readonly runtime?: RuntimePaths | undefined
}

/** The environments that the user has configured. */
export async function openEnvironments(settings: ManagerSettings = {}): Promise<EnvironmentManager> {
  const { configDir, env = process.env, runtime } = settings
  const provider = settings.provider ?? (await environmentsFrom({ configDir, env }))
  return await EnvironmentManager.create({ provider, factory: environmentFactory, runtime })
}
