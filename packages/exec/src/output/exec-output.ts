/** What a command that ran once has said, and how it ended. */
export interface ExecOutput {
  /** -1 if there is none. */
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  /** Both, in the order in which they came. */
  readonly aggregated: string
  readonly durationMs: number
  readonly timedOut: boolean
}

/** Why there is no ordinary result. */
export type ExecFailure =
  /** Its sandbox did not let it do something. */
  | { readonly kind: 'denied'; readonly output: ExecOutput }
  /** What it had said until then. */
  | { readonly kind: 'timed-out'; readonly output: ExecOutput }
  | { readonly kind: 'missing-variable'; readonly name: string; readonly instructions?: string | undefined }
  /** It did not come to running it, or we lost it. */
  | { readonly kind: 'other'; readonly error: Error }

export type ExecResult =
  | { readonly kind: 'finished'; readonly output: ExecOutput }
  /** Somebody did not want it. A failure on the way is not that. */
  | { readonly kind: 'rejected'; readonly message: string }
  | { readonly kind: 'failed'; readonly failure: ExecFailure }
