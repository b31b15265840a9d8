import type { Environment, Process } from '@waldo/environment'
import { LeaveError } from '../leave-error.ts'

/** Between asking a command to end whose time is up, and ending it; and until we go without knowing. */
const GRACE_MS = 2000
const LAST_WAIT_MS = 5000
const TIMED_OUT = 124

interface TimeLimitOptions {
  readonly ms: number
  readonly environment: Environment
  readonly child: Process
  readonly leave: (why: LeaveError) => void
}

/** Ends a command when its time is up. If that cannot be done or seen, we do not wait for it. */
export class TimeLimit implements Disposable {
  readonly #options: TimeLimitOptions
  #timer: NodeJS.Timeout
  #isUp = false

  constructor(options: TimeLimitOptions) {
    this.#options = options
    this.#timer = setTimeout(() => void this.#end(), options.ms)
  }

  /** The code to exit with instead of the command's own. */
  exitCode(own: number): number {
    return this.#isUp ? TIMED_OUT : own
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
  }

  async #end(): Promise<void> {
    const { environment, child, leave } = this.#options
    this.#isUp = true
    const late = new LeaveError(TIMED_OUT, 'the command did not end in time, and may still be running')
    this.#timer = setTimeout(() => leave(late), LAST_WAIT_MS)
    try {
      const { capabilities } = await environment.info()
      await child.terminate(capabilities?.processTerminateGrace ? { graceMs: GRACE_MS } : {})
    } catch (error) {
      leave(new LeaveError(TIMED_OUT, `the command could not be ended in time: ${(error as Error).message}`))
    }
  }
}
