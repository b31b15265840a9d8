import { object, optional, string } from '../decode.ts'
import type { EnvironmentInfo } from './environment.ts'

/** Why a server that is stopped closes its connections. Its sessions end with it. */
export const SHUTTING_DOWN = 'the executor is shutting down'

export const initializeParams = object({
  /** Not interpreted; it helps whoever reads a log. */
  clientName: string,
  /** Attach to the session of a connection that was lost instead of starting a new one. */
  resumeSessionId: optional(string),
})

export interface InitializeResult {
  sessionId: string
  environmentInfo: EnvironmentInfo
}
