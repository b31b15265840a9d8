import { closeSync, openSync } from 'node:fs'
import { enterNetwork, unshareNetwork } from './libc.ts'

/** A namespace belongs to a thread. */
const OURS = '/proc/thread-self/ns/net'

/**
 * A network with nothing in it: even its loopback interface is down. It is made once, for all who may not use any, because
 * a new one for each takes the kernel a tenth of all the time that a sandbox does. Sharing it is no way to each other:
 * with the filter of system calls there is nobody inside who could have a socket but for pairs.
 */
export class EmptyNetwork {
  readonly #home: number
  readonly #empty: number

  private constructor(home: number, empty: number) {
    this.#home = home
    this.#empty = empty
  }

  /** Undefined where we may not: everybody then needs a network of their own. */
  static make(): EmptyNetwork | undefined {
    const home = openSync(OURS, 'r')
    try {
      // To where we are already: whoever could leave, but not come back, must not leave.
      enterNetwork(home)
      unshareNetwork()
    } catch {
      closeSync(home)
      return undefined
    }
    let empty: number | undefined
    try {
      empty = openSync(OURS, 'r')
    } finally {
      enterNetwork(home)
      if (empty === undefined) closeSync(home)
    }
    return new EmptyNetwork(home, empty)
  }

  /** Whoever is started by `spawn`, at once and from this thread, lives in it. */
  around<T>(spawn: () => T): T {
    enterNetwork(this.#empty)
    try {
      return spawn()
    } finally {
      enterNetwork(this.#home)
    }
  }

  /** Who is inside stays. */
  close(): void {
    closeSync(this.#empty)
    closeSync(this.#home)
  }
}
