import type {
  EnvPolicy,
  LimitHit,
  OutputStream,
  ProcessLimits,
  ProcessSummary,
  SandboxDenial,
  SandboxRequest,
  TerminalSize,
} from '@waldo/protocol'
import type { CallOptions } from './environment.ts'
import type { ExecError } from './errors.ts'
import type { EnvironmentPath } from './file-system.ts'
import type { ManagedNetwork } from './managed-network.ts'

export interface StartOptions extends CallOptions {
  /** Where; the environment's own directory if nothing is said. */
  readonly cwd?: EnvironmentPath | undefined
  /** Laid over what `envPolicy` lets through of the environment's own variables. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** What of the environment's own variables the process gets. Everything but likely secrets if nothing is said. */
  readonly envPolicy?: EnvPolicy | undefined
  /** A terminal instead of pipes; `true` for one of 80 by 24. */
  readonly tty?: boolean | TerminalSize | undefined
  /**
   * What happens when more is said than the executor keeps and nobody reads. `drop`: the oldest goes, and how much it was
   * is told. `wait`: the process waits for its reader, as with a pipe; somebody has to read. A terminal cannot wait.
   */
  readonly whenFull?: 'drop' | 'wait' | undefined
  /** Whether there is something to write to. Otherwise the input is empty. A terminal always has one. */
  readonly stdin?: boolean | undefined
  /** What the program is told it is called. */
  readonly arg0?: string | undefined
  /** Unique in this environment; one is made up if nothing is said. */
  readonly id?: string | undefined
  /** What it may see and change. What cannot be enforced is refused. */
  readonly sandbox?: SandboxRequest | undefined
  /** What it and everything that it starts may use. `UNSUPPORTED` where nobody can see to that. */
  readonly limits?: Readonly<Partial<ProcessLimits>> | undefined
  /** Whom it may talk to. `UNSUPPORTED` where nobody can see to that. */
  readonly network?: ManagedNetwork | undefined
  readonly toolCallId?: string | undefined
}

export interface Processes {
  /** Program and arguments, no shell. Throws an `ExecError` if there is no process in the end. */
  start(argv: readonly string[], options?: StartOptions): Promise<Process>
  /** Those of this session. */
  list(options?: CallOptions): Promise<ProcessSummary[]>
}

/** What the executor says about an end besides its code. What it does not say is absent. */
export interface ExitVerdict {
  /** Whether it failed because of its sandbox, as far as that can be known. */
  readonly sandboxDenied: boolean
  /** What its sandbox did not let it do. */
  readonly sandboxDenials?: readonly SandboxDenial[]
  /** The sandbox could not be set up, and the command never began. Why is in its output. */
  readonly sandboxFailed?: true
  /** It wanted more than it was allowed to use. */
  readonly limitHit?: LimitHit
}

/** What happens to a process, numbered from 1 without a gap. */
export type ProcessEvent =
  | {
      readonly type: 'output'
      readonly seq: number
      readonly stream: OutputStream
      readonly data: Uint8Array
      /** Output that was dropped past the quota, and for which `data` stands empty. */
      readonly droppedBytes?: number
    }
  | ({ readonly type: 'exited'; readonly seq: number; readonly exitCode: number } & ExitVerdict)
  /** Nobody holds its output any more. The last one. */
  | { readonly type: 'closed'; readonly seq: number }

/** How it ended, or that we cannot know. A command that fails is a result, not an error. */
export interface ProcessResult extends ExitVerdict {
  /** `lost`: the connection to it was, for good; `error` says how. */
  readonly state: 'exited' | 'lost'
  /** 128 plus the number of the signal for a death by signal; null if lost. */
  readonly exitCode: number | null
  /** `SIGTERM`, …; null if none, or if the executor does not say. */
  readonly signal: string | null
  /** What it said, and how much of that is not kept any more; null if the executor does not count. */
  readonly bytes: { readonly output: number | null; readonly dropped: number | null }
  readonly error?: ExecError
}

export interface OutputOptions extends CallOptions {
  /** Only what comes after this event; everything that is still kept if nothing is said. */
  readonly after?: number | undefined
  /** Only one stream. */
  readonly stream?: OutputStream | undefined
}

/** A process that was started. Disposing of it ends it. */
export interface Process extends AsyncDisposable {
  readonly id: string
  readonly argv: readonly string[]
  /** Everything that happens, from the beginning or after an event. Who reads slowly is waited for. */
  events(options?: Omit<OutputOptions, 'stream'>): AsyncIterable<ProcessEvent>
  /** What it says, as bytes. Ends when nobody can say any more; fails if the process is lost. */
  output(options?: OutputOptions): ReadableStream<Uint8Array>
  /** The same, collected: the last `maxBytes` of it (1 MiB if nothing is said). */
  text(options?: OutputOptions & { readonly maxBytes?: number | undefined }): Promise<string>
  /** Throws `STDIN_CLOSED` if nobody reads it. Written once, whatever happens to the wire. */
  write(data: string | Uint8Array, options?: CallOptions): Promise<void>
  closeStdin(options?: CallOptions): Promise<void>
  resize(size: TerminalSize, options?: CallOptions): Promise<void>
  /** `interrupt` is what Ctrl-C sends. */
  signal(name: 'interrupt' | `SIG${string}`, options?: CallOptions): Promise<void>
  /** Ends it and everything it has started. With a grace, SIGTERM comes first. */
  terminate(options?: CallOptions & { readonly graceMs?: number | undefined }): Promise<void>
  /** Resolves when it has closed. Giving up the wait does not end the process. */
  wait(options?: CallOptions): Promise<ProcessResult>
}
