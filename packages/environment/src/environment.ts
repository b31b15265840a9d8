import type { EnvironmentInfo, SandboxInfo } from '@waldo/protocol'
import type { ExecError } from './errors.ts'
import type { FileSystem } from './file-system.ts'
import type { HttpClient } from './http-client.ts'
import type { Processes } from './processes.ts'

/** Every call that waits can be given up. That ends the waiting, not the work that is waited for. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** How things stand, as far as we know without asking. */
export type EnvironmentStatus =
  /** Nobody has needed it yet, or not since it was lost. */
  | { readonly state: 'idle' }
  | { readonly state: 'connecting' }
  | { readonly state: 'ready' }
  /** The wire was cut. The session is kept, and we are trying to get back to it. */
  | { readonly state: 'recovering'; readonly since: Date; readonly error: ExecError }
  /** The last attempt failed. What can be tried again is, at the next use. */
  | { readonly state: 'failed'; readonly error: ExecError }
  | { readonly state: 'closed' }

/** A place where work happens. Nobody who uses it learns, or needs to know, whether it is this machine or another. */
export interface Environment extends AsyncDisposable {
  readonly id: string
  readonly processes: Processes
  readonly files: FileSystem
  readonly http: HttpClient
  /** Never connects. */
  readonly status: EnvironmentStatus
  /** Told after every change of `status`. Returns how to stop that. */
  onStatus(listener: (status: EnvironmentStatus) => void): () => void
  /** Connects if need be. Call it as often as you like: all callers share one attempt. */
  ready(options?: CallOptions): Promise<void>
  info(options?: CallOptions): Promise<EnvironmentInfo>
  /** What can be enforced there, and what is missing if nothing can; undefined if the executor does not say. */
  sandboxInfo(options?: CallOptions): Promise<SandboxInfo | undefined>
  /** Ends its processes and lets go of everything. To leave processes running, just let the connection be. */
  close(): Promise<void>
}
