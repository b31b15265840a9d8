import type { SandboxInfo } from '@waldo/protocol'
import { PolicyError } from '@waldo/sandbox'
import type { ThisHost } from '@waldo/sandbox/linux'
import type * as Mac from '@waldo/sandbox/macos'
import type { HelperRequest, HelperSandbox, MeansOptions, SandboxMeans } from './sandbox-means.ts'

/** Seatbelt, which decides about files and the network, and about nothing else. */
export class MacMeans implements SandboxMeans {
  readonly sandboxType = 'macosSeatbelt'
  /** The second is what the reference has there. */
  readonly markers = { WALDO_SANDBOX: 'seatbelt', CODEX_SANDBOX: 'seatbelt' }
  readonly #module = require('@waldo/sandbox/macos') as typeof Mac
  readonly #sandbox: Mac.MacSandbox

  constructor({ hidden }: MeansOptions) {
    this.#sandbox = new this.#module.MacSandbox({ hidden: () => hidden })
  }

  probe(): SandboxInfo {
    return { ...this.#module.probeSeatbelt(this.#sandbox), limits: {} }
  }

  lookAround(): ThisHost {
    return this.#sandbox.lookAround()
  }

  lookAtFiles(): ThisHost {
    return this.#sandbox.lookAround()
  }

  prepare(options: Mac.PlatformPolicy): Mac.PlatformPrepared {
    return this.#sandbox.prepare(options)
  }

  prepareHelper({ files, facts, own }: HelperRequest): HelperSandbox {
    // As Seatbelt knows them, which has seen all links through.
    const program = facts.resolve(own.program).path
    const sources = own.sources && facts.resolve(own.sources).path
    const paths = sources === undefined ? [program] : [program, sources]
    const prepared = this.#sandbox.prepareHelper({ files, facts, own: paths })
    return { prepared, own: { program, sources }, env: {} }
  }

  get namespaces(): never {
    throw new PolicyError('unavailable', 'on macOS no process has a network of its own: run the executor on Linux')
  }

  /** Not even some: nobody here knows all that a command has started, so as to count it or to end it. */
  prepareLimits(): never {
    throw new PolicyError(
      'unavailable',
      'limits cannot be enforced on macOS: start the process without, or run the executor on Linux',
    )
  }

  close(): void {
    this.#sandbox.close()
  }
}
