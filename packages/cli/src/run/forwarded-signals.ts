import { constants } from 'node:os'
import { type Environment, ExecError, type Process } from '@waldo/environment'
import { LeaveError } from '../leave-error.ts'

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
type Forwarded = (typeof FORWARDED)[number]
/** Two Ctrl-C within this are meant seriously. */
const TWICE_MS = 2000

interface SignalOptions {
  readonly environment: Environment
  /** To stop waiting at once. */
  readonly leave: (why: LeaveError) => void
  readonly tell: (text: string) => void
}

/**
 * Signals that are sent to us are meant for the command. A second Ctrl-C ends it, and one more does not wait for that.
 * Where nobody can be reached, a second Ctrl-C leaves, and so does anything but a Ctrl-C.
 */
export class ForwardedSignals implements Disposable {
  readonly #options: SignalOptions
  #child: Process | undefined
  #interruptedAt = Number.NEGATIVE_INFINITY
  #ending = false
  /** Somebody wants us gone, and not only the command. */
  #dismissedBy: Forwarded | undefined
  readonly #stopListening: () => void

  constructor(options: SignalOptions) {
    this.#options = options
    for (const name of FORWARDED) process.on(name, this.received)
    this.#stopListening = options.environment.onStatus(({ state }) => {
      // Whether it has heard of it will not be known soon, and nobody waits for us.
      if (this.#dismissedBy && state !== 'ready') this.#unreachable(this.#dismissedBy, false)
    })
  }

  /** From now on there is somebody to forward to. */
  attach(child: Process): void {
    this.#child = child
  }

  readonly received = (name: Forwarded): void => {
    const now = performance.now()
    const twice = name === 'SIGINT' && now - this.#interruptedAt < TWICE_MS
    if (name === 'SIGINT') this.#interruptedAt = now
    else this.#dismissedBy = name
    if (!this.#child) this.#leave(name)
    else if (this.#options.environment.status.state !== 'ready') this.#unreachable(name, twice)
    else if (!twice) this.#forward(this.#child, name)
    else if (this.#ending) this.#leave(name)
    else this.#end(this.#child)
  };

  [Symbol.dispose](): void {
    for (const name of FORWARDED) process.off(name, this.received)
    this.#stopListening()
  }

  #unreachable(name: Forwarded, twice: boolean): void {
    if (name === 'SIGINT' && !twice) this.#options.tell('there is no connection; Ctrl-C again leaves')
    else this.#leave(name, 'left without a connection: the command may still be running')
  }

  #forward(child: Process, name: Forwarded): void {
    child.signal(name === 'SIGINT' ? 'interrupt' : name).catch((error) => {
      // An executor that knows no names of signals can still end it.
      if (ExecError.is(error, 'REFUSED') || ExecError.is(error, 'UNSUPPORTED')) this.#end(child)
      else this.#options.tell(`${name} was not passed on: ${(error as Error).message}`)
    })
  }

  #end(child: Process): void {
    this.#ending = true
    child.terminate().catch((error) => this.#options.tell(`cannot end the command: ${(error as Error).message}`))
  }

  #leave(name: Forwarded, message = ''): void {
    this.#options.leave(new LeaveError(128 + constants.signals[name], message))
  }
}
