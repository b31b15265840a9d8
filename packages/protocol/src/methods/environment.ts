import type { PathUri } from '../path-uri.ts'

/** Which optional methods and members a server has. A flag that is missing means no. */
export interface Capabilities {
  processResize?: boolean
  processCloseStdin?: boolean
  processList?: boolean
  /** `process/signal` takes the name of any signal, such as `SIGUSR1`. */
  processSignalNames?: boolean
  processTerminateGrace?: boolean
  processStartSize?: boolean
  sessionEnd?: boolean
  /** `push: false` at the start of a process. */
  processPull?: boolean
  /** `whenFull: wait` at the start of a process. */
  processWait?: boolean
  processStartToken?: boolean
  /** `environmentInfo` says how long a session is kept. */
  sessionRetention?: boolean
  fsWatchMissing?: boolean
  fileWriteStreaming?: boolean
  fsRename?: boolean
  fsAppend?: boolean
  fsSetMode?: boolean
  fsGlob?: boolean
  fsGrep?: boolean
  /** `fs/watch` and `fs/unwatch`. */
  fsWatch?: boolean
  /** A header of `http/request` may take its value from the executor's environment. */
  httpHeaderEnvVars?: boolean
  httpCancel?: boolean
  httpFlow?: boolean
  /** Files that are streamed through `fs/open` obey a sandbox. */
  sandboxedFileStreaming?: boolean
  /** `networkProxy` at the start of a process. */
  networkProxyLaunch?: boolean
  /** The end of a process says what its sandbox refused. */
  sandboxDenials?: boolean
  /** `limits` at the start of a process. */
  processLimits?: boolean
  /** `environmentInfo` says what can be enforced. */
  sandboxInfo?: boolean
}

/** What this machine can enforce, and what is missing if it cannot. */
export interface SandboxInfo {
  available: boolean
  /** `bubblewrap`, `seatbelt`; absent if there is none. */
  mechanism?: string
  version?: string
  /** Why there is none, and what to do about it. */
  reason?: string
  remedy?: string
  /** What each limit is enforced by; those that are absent are refused. */
  limits?: Record<string, string>
  landlock?: number
}

export interface EnvironmentInfo {
  shell: { name: string; path: string }
  executorVersion: string
  /** The same for every server of one user on one machine; says nothing else. */
  providerId: string
  cwd: PathUri
  userHomeDir: PathUri | null
  tempDir: PathUri
  temporaryDirectories: PathUri[]
  prependPathDirs: PathUri[]
  platformOs: 'linux' | 'macos'
  capabilities: Capabilities
  /** How long a session outlives its connection, in milliseconds; null: for ever. With `sessionRetention`. */
  detachedTtlMs?: number | null
  /** With `sandboxInfo`. Absent while it is not known yet: `environment/info` waits for it. */
  sandbox?: SandboxInfo
}

export interface EnvironmentStatusResult {
  status: 'ready'
}
