import { closeSync, openSync, writeSync } from 'node:fs'
import { enterNetwork, unshareNetwork } from './libc.ts'

/** A namespace belongs to a thread. */
const OURS = '/proc/thread-self/ns/net'
const ATTEMPTS = 1000
const PAUSE_MS = 2

/**
 * A network with nothing in it: even its loopback interface is down. It is made once, for all who may not use any, because
 * a new one for each takes the kernel a tenth of all the time that a sandbox does. Sharing it is no way to each other:
 * with the filter of system calls there is nobody inside who could have a socket but for pairs.
 */
export class EmptyNetwork {
  #home: number
  #empty: number

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
      comeBack(home)
      if (empty === undefined) closeSync(home)
    }
    return new EmptyNetwork(home, empty)
  }

  /**
   * Whoever is started by `spawn`, at once and from this thread, lives in it. So does a thread that is made meanwhile: of
   * the runtime's own, only those that compile are ever made so late.
   */
  around<T>(spawn: () => T): T {
    enterNetwork(this.#empty)
    try {
      return spawn()
    } finally {
      comeBack(this.#home)
    }
  }

  /** Who is inside stays. */
  close(): void {
    closeSync(this.#empty)
    closeSync(this.#home)
    // These numbers are other files from now on. Whoever still wants to start something cannot.
    this.#empty = -1
    this.#home = -1
  }
}

/** Does not throw: what runs inside by now would be forgotten. The kernel may be out of memory for a moment. */
function comeBack(home: number): void {
  for (let attempt = 1; ; attempt++) {
    try {
      enterNetwork(home)
      return
    } catch (error) {
      if (attempt === ATTEMPTS) {
        // Here we would reach nobody, and nobody us. Our commands end with us.
        writeSync(2, `waldo: cannot come back from the network of a sandbox: ${(error as Error).message}\n`)
        process.exit(1)
      }
      Bun.sleepSync(PAUSE_MS)
    }
  }
}
