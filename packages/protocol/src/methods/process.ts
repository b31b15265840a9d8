import { base64 } from '../base64.ts'
import {
  array,
  boolean,
  type Decoded,
  DecodeError,
  object,
  oneOf,
  optional,
  type Schema,
  string,
  stringRecord,
  unsigned,
  withDefault,
} from '../decode.ts'
import { pathUri } from '../path-uri.ts'
import { optionalSandbox } from '../sandbox-intent.ts'
import { managedNetwork, networkProxy } from './network.ts'

/** How to derive the environment of a process from the executor's own. */
const envPolicy = object({
  inherit: oneOf('core', 'all', 'none'),
  ignoreDefaultExcludes: boolean,
  exclude: array(string),
  set: stringRecord,
  includeOnly: array(string),
})
export type EnvPolicy = Decoded<typeof envPolicy>

/** Of a terminal: one that has no columns, or no rows, is none. */
const dimension: Schema<number> = (value) => {
  const size = unsigned(65_535)(value)
  if (size === 0) throw new DecodeError('expected a number from 1 to 65535, got 0')
  return size
}
const terminalSize = object({ cols: dimension, rows: dimension })
export type TerminalSize = Decoded<typeof terminalSize>

const positive: Schema<number> = (value) => {
  const number = unsigned(Number.MAX_SAFE_INTEGER)(value)
  if (number === 0) throw new DecodeError('expected a number above 0, got 0')
  return number
}
const processLimits = object({
  cpuSeconds: optional(positive),
  memoryBytes: optional(positive),
  processes: optional(positive),
  /** Of each single file. */
  fileBytes: optional(positive),
  wallMs: optional(positive),
})
export type ProcessLimits = Decoded<typeof processLimits>

export const processStartParams = object({
  processId: string,
  argv: array(string),
  cwd: pathUri,
  env: stringRecord,
  tty: boolean,
  envPolicy: optional(envPolicy),
  pipeStdin: withDefault(boolean, false),
  arg0: optional(string),
  sandbox: optionalSandbox,
  enforceManagedNetwork: withDefault(boolean, false),
  managedNetwork: optional(managedNetwork),
  networkProxy: optional(networkProxy),
  shellSnapshot: optional(object({ scopeId: string, shell: object({ name: string, path: string }) })),
  metadata: optional(object({ toolCallId: optional(string) })),
  /** Extension `processStartSize`: the terminal's size from the first moment, instead of 80 by 24. */
  size: optional(terminalSize),
  /** Extension `processStartToken`: a start that is repeated with the same id and token has happened already. */
  startToken: optional(string),
  /** Extension `processPull`: false if the client will read what happens, and nothing is to be sent by itself. */
  push: withDefault(boolean, true),
  /** Extension `processWait`: past what is kept, the process waits until the client has read, and nothing is dropped. */
  whenFull: withDefault(oneOf('drop', 'wait'), 'drop'),
  /** Extension `processLimits`: what it and everything that it starts may use. */
  limits: optional(processLimits),
})
export type ProcessStartParams = Decoded<typeof processStartParams>

export interface ProcessStartResult {
  processId: string
  sandboxType: 'none' | 'linuxSeccomp' | 'macosSeatbelt'
}

export const processReadParams = object({
  processId: string,
  afterSeq: optional(unsigned()),
  maxBytes: optional(unsigned()),
  waitMs: optional(unsigned()),
})
export type ProcessReadParams = Decoded<typeof processReadParams>

export type OutputStream = 'stdout' | 'stderr' | 'pty'

export interface ProcessReadResult {
  /** `droppedBytes` as in `ProcessOutput`. */
  chunks: { seq: number; stream: OutputStream; chunk: string; droppedBytes?: number }[]
  nextSeq: number
  exited: boolean
  exitCode: number | null
  closed: boolean
  failure: null
  sandboxDenied: boolean
  sandboxDenials?: SandboxDenial[]
  sandboxFailed?: true
  limitHit?: LimitHit
  /** Bytes that were dropped past the quota somewhere in the range that this result covers; absent when none were. */
  droppedBytes?: number
}

export const processWriteParams = object({ processId: string, chunk: base64, writeId: string })

export interface ProcessWriteResult {
  status: 'accepted' | 'unknownProcess' | 'stdinClosed'
}

/** `interrupt`, or with the extension `processSignalNames` a name such as `SIGTERM`. */
const signalName: Schema<string> = (value) => {
  const name = string(value)
  if (name === 'interrupt' || /^SIG[A-Z][A-Z0-9+-]{0,15}$/.test(name)) return name
  throw new DecodeError(
    `unknown variant \`${name.slice(0, 40)}\`, expected \`interrupt\` or the name of a signal such as \`SIGTERM\``,
  )
}
export const processSignalParams = object({ processId: string, signal: signalName })

export const processTerminateParams = object({
  processId: string,
  /** Extension `processTerminateGrace`: SIGTERM now, SIGKILL to what is left after so many milliseconds. */
  graceMs: optional(unsigned()),
})

export interface ProcessTerminateResult {
  running: boolean
}

export const processResizeParams = object({ processId: string, cols: dimension, rows: dimension })

/** One process, if it is named. */
export const processListParams: Schema<{ processId: string | undefined }> = (value) =>
  object({ processId: optional(string) })(value ?? {})

export const processCloseStdinParams = object({ processId: string })

export interface ProcessSummary {
  processId: string
  argv: string[]
  cwd: string
  pid: number
  startedAtMs: number
  /** `exited`: the process is gone, but something still holds its output open. */
  state: 'running' | 'exited' | 'closed'
  tty: boolean
  bytes: { output: number; dropped: number; stdin: number }
  exit: ProcessExit | null
}

export interface ProcessExit {
  code: number
  /** The signal that ended it, if one did. */
  signal: string | null
  /** Who asked for the end; `self` if nobody did. */
  endedBy: 'self' | 'terminate' | 'session' | 'shutdown' | 'limit'
  atMs: number
  /** Extension `sandboxDenials`: whether it failed because of its sandbox, as far as we know; absent without one. */
  sandboxDenied?: boolean
  sandboxDenials?: SandboxDenial[]
  /** The sandbox could not be set up, and the command never began. Why is in its output. */
  sandboxFailed?: true
  /** Extension `processLimits`: it wanted more than it was allowed. */
  limitHit?: LimitHit
}

/** Something that a process wanted to do and its sandbox did not let it do. */
export interface SandboxDenial {
  kind: 'file' | 'network' | 'syscall'
  path?: string
  host?: string
  port?: number
  access?: 'read' | 'write'
  /** What in the profile decided it. */
  rule: string
  /** `certain`: seen by whoever refused. `likely`: the process says so, and the profile would. `possible`: it might be. */
  confidence: 'certain' | 'likely' | 'possible'
}

export interface LimitHit {
  kind: 'cpuSeconds' | 'memoryBytes' | 'processes' | 'fileBytes' | 'wallMs'
  detail: string
}

export interface ProcessListResult {
  processes: ProcessSummary[]
}

export interface ProcessOutput {
  processId: string
  seq: number
  stream: OutputStream
  chunk: string
  /** On the first of a run of empty chunks that stand for output dropped past the quota: how many bytes it was. */
  droppedBytes?: number
}

export interface ProcessExited {
  processId: string
  seq: number
  exitCode: number
  sandboxDenied: boolean
  sandboxDenials?: SandboxDenial[]
  sandboxFailed?: true
  limitHit?: LimitHit
}

export interface ProcessClosed {
  processId: string
  seq: number
}
