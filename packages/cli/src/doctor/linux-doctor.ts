import { LinuxSandbox, probeLimits, probeSandbox } from '@waldo/sandbox/linux'
import { SandboxedShell } from './escape/sandboxed-shell.ts'
import { tryEscapes } from './escape/try-escapes.ts'
import { tryJobControl } from './job-control.ts'
import { tryManagedNetwork } from './managed-network.ts'
import type { AttemptResult, LimitFinding, LimitKind, Report, StateDirectory } from './report.ts'

/** Finds out what an executor can enforce on Linux, with the sandbox that it would use. */
export class LinuxDoctor implements Disposable {
  readonly #stateDirectory: StateDirectory
  readonly #sandbox: LinuxSandbox

  constructor(stateDirectory: StateDirectory) {
    const { path } = stateDirectory
    this.#stateDirectory = stateDirectory
    this.#sandbox = new LinuxSandbox({ stateDir: path, hidden: () => [path] })
  }

  async examine(signal: AbortSignal): Promise<Omit<Report, 'machine' | 'stateDirectory'>> {
    const findings = { sandbox: this.#probe(), limits: findLimits() }
    if (!findings.sandbox.available) return findings
    return {
      ...findings,
      jobControl: await tryJobControl(this.#sandbox, signal),
      managedNetwork: await tryManagedNetwork(this.#sandbox, signal),
    }
  }

  /** Nothing, where there is nothing to escape from. */
  tryEscapes(signal: AbortSignal): AsyncGenerator<AttemptResult> {
    return tryEscapes({ shell: new SandboxedShell(this.#sandbox), stateDir: this.#stateDirectory.path, signal })
  }

  [Symbol.dispose](): void {
    this.#sandbox.close()
  }

  #probe(): Report['sandbox'] {
    // It needs a place for what it mounts over others; the probe would blame bubblewrap.
    if (!this.#stateDirectory.isWritable) return { available: false, reason: 'it needs a state directory' }
    try {
      this.#sandbox.sweep()
    } catch (error) {
      return { available: false, reason: `what others have left cannot be removed: ${(error as Error).message}` }
    }
    return probeSandbox(this.#sandbox)
  }
}

function findLimits(): Record<LimitKind, LimitFinding> {
  const found = Object.entries(probeLimits().of).map(([kind, way]) => {
    return [kind, way.by === 'none' ? { by: way.by, reason: way.reason } : { by: way.by }]
  })
  return Object.fromEntries(found)
}
