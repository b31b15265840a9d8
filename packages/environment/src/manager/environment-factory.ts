import type { Environment } from '../environment.ts'
import type { EnvironmentTransport } from './environment-transport.ts'

/** Where this machine has what a local environment needs. */
export interface RuntimePaths {
  /** Our own program, which helpers are started with. */
  readonly executable: string
  /** Where output goes that is too much for memory. */
  readonly stateDir: string
}

export interface EnvironmentOptions {
  /** The directory in which commands start there unless they say otherwise. */
  readonly cwd?: string | undefined
  readonly runtime?: RuntimePaths | undefined
}

/** Makes environments. It must not connect: that is for the first use. */
export interface EnvironmentFactory {
  create(id: string, transport: EnvironmentTransport, options: EnvironmentOptions): Environment
}
