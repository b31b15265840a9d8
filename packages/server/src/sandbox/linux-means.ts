import type { ProcessLimits, SandboxInfo } from '@waldo/protocol'
import { PolicyError } from '@waldo/sandbox'
import type * as Linux from '@waldo/sandbox/linux'
import type { PlatformPolicy, PlatformPrepared } from '@waldo/sandbox/macos'
import { WRITABLE_PATHS } from '../files/writable-paths.ts'
import type { HelperRequest, HelperSandbox, MeansOptions, SandboxMeans } from './sandbox-means.ts'

/** In /dev, which is made anew for each sandbox: there is nothing that it could be in the way of. */
const PROGRAM = '/dev/.waldo/program'
const SOURCES = '/dev/.waldo/sources'

/** Bubblewrap, seccomp, namespaces and control groups. */
export class LinuxMeans implements SandboxMeans {
  readonly sandboxType = 'linuxSeccomp'
  readonly markers = { WALDO_SANDBOX: 'bubblewrap' }
  readonly namespaces: Linux.NetworkNamespaces
  readonly #module = require('@waldo/sandbox/linux') as typeof Linux
  readonly #sandbox: Linux.LinuxSandbox
  #limits: Linux.LimitMeans | undefined

  constructor({ stateDir, hidden, namespaceMaker, guard }: MeansOptions) {
    this.#sandbox = new this.#module.LinuxSandbox({ stateDir, hidden: () => hidden })
    this.namespaces = new this.#module.NetworkNamespaces({ command: namespaceMaker, guard })
    this.#sandbox.sweep()
  }

  probe(): SandboxInfo {
    const means = Object.entries(this.#limitMeans().of).flatMap(([kind, { by }]) => (by === 'none' ? [] : [[kind, by]]))
    return { ...this.#module.probeSandbox(this.#sandbox), limits: Object.fromEntries(means) }
  }

  lookAround(): Linux.ThisHost {
    return this.#sandbox.lookAround()
  }

  lookAtFiles(): Linux.ThisHost {
    return new this.#module.ThisHost()
  }

  prepare(options: PlatformPolicy): PlatformPrepared | Promise<PlatformPrepared> {
    return this.#sandbox.prepare(options)
  }

  prepareHelper({ rules, files, facts, own: { program, sources } }: HelperRequest): HelperSandbox {
    const mounts = ['--ro-bind', program, PROGRAM, ...(sources === undefined ? [] : ['--ro-bind', sources, SOURCES])]
    const prepared = this.#sandbox.prepareHelper({ files, facts, mounts })
    // Mounts let nothing else through. But if they ever do, the kernel has another rule that does not go by them.
    const writable = rules.rules.flatMap(({ access, exists, path }) => (access === 'write' && exists ? [path] : []))
    const env = { [WRITABLE_PATHS]: JSON.stringify([...writable, '/dev/null']) }
    return { prepared, own: { program: PROGRAM, sources: sources && SOURCES }, env }
  }

  prepareLimits(limits: ProcessLimits, options: { sandboxed: boolean }): Linux.PreparedLimits {
    const { LimitError, prepareLimits } = this.#module
    try {
      return prepareLimits(limits, this.#limitMeans(), options)
    } catch (error) {
      throw error instanceof LimitError ? new PolicyError('unenforceable', error.message, { cause: error }) : error
    }
  }

  close(): void {
    this.#sandbox.close()
    this.namespaces.close()
  }

  #limitMeans(): Linux.LimitMeans {
    this.#limits ??= this.#module.probeLimits()
    return this.#limits
  }
}
