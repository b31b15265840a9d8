import type { SandboxInfo } from '@waldo/protocol'
import { PolicyError } from '@waldo/sandbox'
import type * as Linux from '@waldo/sandbox/linux'
import type { SandboxMeans } from './sandbox-means.ts'

/** A system for which there is no sandbox. Profiles can be read, and those that restrict nothing be kept to. */
export class NoMeans implements SandboxMeans {
  readonly sandboxType = 'none'
  readonly markers = {}
  readonly #platform: string

  constructor(platform: string) {
    this.#platform = platform
  }

  probe(): SandboxInfo {
    return { available: false, reason: this.#reason, remedy: 'run the executor on Linux' }
  }

  lookAround(): Linux.ThisHost {
    const { ThisHost } = require('@waldo/sandbox/linux') as typeof Linux
    return new ThisHost()
  }

  lookAtFiles(): Linux.ThisHost {
    return this.lookAround()
  }

  get namespaces(): never {
    return this.#refuse()
  }

  prepare(): never {
    return this.#refuse()
  }

  prepareHelper(): never {
    return this.#refuse()
  }

  prepareLimits(): never {
    return this.#refuse()
  }

  close(): void {}

  get #reason(): string {
    return `no sandbox has been built for ${this.#platform}`
  }

  #refuse(): never {
    throw new PolicyError('unavailable', `${this.#reason}: run the executor on Linux`)
  }
}
