import { ExecError } from '@waldo/environment'
import type { ConfinedCommand, ConfinedLaunch, Confinement, Ending } from '@waldo/local'
import type { ProcessExit, ProcessLimits } from '@waldo/protocol'
import { findDenials, type Policy } from '@waldo/sandbox'
import type { PreparedLimits, Wrapping } from '@waldo/sandbox/linux'
import type { PlatformPrepared } from '@waldo/sandbox/macos'
import type { ProxyRules } from '@waldo/sandbox/proxy'
import type { ClientCalls } from '../client-calls.ts'
import type { ExecutorSandbox, ProcessProfile } from './executor-sandbox.ts'
import { LimitedLaunch } from './limited-launch.ts'
import { ManagedNetwork } from './managed-network.ts'

export interface ConfineOptions {
  readonly processId: string
  /** Undefined: no sandbox. */
  readonly profile: ProcessProfile | undefined
  readonly proxy: ProxyRules | undefined
  readonly isManaged: boolean
  readonly decisionMs: number | undefined
  readonly limits: ProcessLimits | undefined
  readonly client: () => ClientCalls | undefined
}

interface Parts {
  readonly policy: Policy | undefined
  readonly prepared: PlatformPrepared | undefined
  readonly network: ManagedNetwork | undefined
  readonly limits: PreparedLimits | undefined
  /** Variables that say what it is in. */
  readonly markers: Readonly<Record<string, string>>
  /** The sandbox could not be made after all. */
  readonly onFailure: () => void
}

/** Prepares everything that one process needs to be kept to what it may do. At once, if nothing has to be waited for. */
export function confineProcess(
  sandbox: ExecutorSandbox,
  options: ConfineOptions,
): Confinement | undefined | Promise<Confinement> {
  const { profile, proxy, isManaged } = options
  const policy = profile?.policy
  const network = isManaged ? 'proxy' : (policy?.network ?? 'enabled')
  const prepared = profile && sandbox.prepare(profile, network)
  const finish = (ready: PlatformPrepared | undefined, managed: ManagedNetwork | undefined) => {
    const limits = options.limits && sandbox.prepareLimits(options.limits, { sandboxed: policy !== undefined })
    if (!ready && !managed && !limits) return undefined
    const onFailure = () => sandbox.doubt()
    return new ConfinedProcess({
      policy,
      prepared: ready,
      network: managed,
      limits,
      markers: sandbox.markers,
      onFailure,
    })
  }
  if (!proxy && !(prepared instanceof Promise)) return finish(prepared, undefined)
  return confineLater(sandbox, options, prepared, finish)
}

async function confineLater(
  sandbox: ExecutorSandbox,
  options: ConfineOptions,
  prepared: PlatformPrepared | undefined | Promise<PlatformPrepared>,
  finish: (ready: PlatformPrepared | undefined, managed: ManagedNetwork | undefined) => Confinement | undefined,
): Promise<Confinement> {
  const { proxy, ...rest } = options
  const ready = await prepared
  const managed = proxy && (await ManagedNetwork.open(sandbox, { ...rest, rules: proxy }))
  try {
    return finish(ready, managed)!
  } catch (error) {
    await managed?.close()
    throw error
  }
}

class ConfinedProcess implements Confinement {
  readonly #parts: Parts
  #cwd = '/'
  /** Lets the command begin, or calls what it is given. */
  #begin: ((kill: () => void) => Promise<void>) | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  launch(command: ConfinedCommand, { terminal }: { terminal: boolean }): ConfinedLaunch {
    const { prepared, network } = this.#parts
    const env = { ...command.env, ...this.#markers(), ...network?.env }
    if (typeof command.cwd === 'string') this.#cwd = command.cwd
    try {
      if (!prepared) return withEnd(new LimitedLaunch({ ...command, env }, this.#wrapping()), () => this.#release())
      const launch = prepared.launch({ ...command, env }, { terminal, wrapping: this.#wrapping() })
      this.#begin = (kill) => launch.begin(kill)
      return withEnd(launch, () => this.#release())
    } catch (cause) {
      this.abandon()
      throw new ExecError('SPAWN_FAILED', `the sandbox could not be set up: ${(cause as Error).message}`, { cause })
    }
  }

  abandon(): void {
    // Nothing that could be waited for, or that anybody could do something about.
    this.#release().catch(() => {})
  }

  started(pid: number, end: (endedBy: ProcessExit['endedBy']) => void): void {
    this.#parts.limits?.watch(pid, () => end('limit'))
    // Should it fail, the command has not begun and never will.
    void this.#begin?.(() => end('self'))
  }

  judge({ code, signal, unconfined }: Ending, lastOutput: string): Partial<ProcessExit> {
    if (unconfined) this.#parts.onFailure()
    const limitHit = this.#parts.limits?.hit({ exitCode: signal === null ? code : null, signal })
    return {
      ...(unconfined ? { sandboxDenied: true, sandboxFailed: true } : this.#denials(code, lastOutput)),
      ...(limitHit && { limitHit }),
    }
  }

  /** What it was not let do, as far as that can be known. */
  #denials(exitCode: number, output: string): Pick<ProcessExit, 'sandboxDenied' | 'sandboxDenials'> {
    const { prepared, policy, network } = this.#parts
    if (!prepared || !policy) return {}
    const facts = prepared.lookAgain()
    const { sandboxDenied, denials } = findDenials({
      exitCode,
      output,
      policy,
      cwd: this.#cwd,
      resolve: (path) => facts.resolve(path).path,
      networkBlocks: network?.blocked ?? [],
    })
    return { sandboxDenied, ...(denials.length > 0 && { sandboxDenials: [...denials] }) }
  }

  #wrapping(): Wrapping {
    const { limits, network } = this.#parts
    return {
      outside: (argv) => {
        const entered = [...(network?.enter ?? []), ...argv]
        return limits?.wrap(entered) ?? entered
      },
      inside: (argv) => limits?.wrapInside(argv) ?? argv,
    }
  }

  async #release(): Promise<void> {
    await Promise.all([this.#parts.network?.close(), this.#parts.limits?.release()])
  }

  /** So that programs, and those who wonder about them, can know. */
  #markers(): Record<string, string> {
    const { prepared, policy, network, markers } = this.#parts
    if (!prepared) return {}
    const isCutOff = policy?.network === 'restricted' && !network
    return { ...markers, ...(isCutOff && { CODEX_SANDBOX_NETWORK_DISABLED: '1' }) }
  }
}

function withEnd(launch: ConfinedLaunch, release: () => Promise<void>): ConfinedLaunch {
  return {
    argv: launch.argv,
    env: launch.env,
    cwd: launch.cwd,
    isMonitor: launch.isMonitor,
    ran: (bySignal) => launch.ran(bySignal),
    start: (spawn) => launch.start(spawn),
    abandon: () => {
      launch.abandon()
      release().catch(() => {})
    },
    settle: async () => {
      await launch.settle()
      await release()
    },
  }
}
