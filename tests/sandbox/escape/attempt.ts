import type { Bench } from './bench.ts'
import type { Connection } from './connection.ts'
import { isHarmful } from './guarded-command.ts'
import type { Probe } from './probe.ts'
import { type SandboxContext, sandboxContext } from './sandbox-context.ts'
import type { Surroundings } from './surroundings.ts'

/** Leaves the sandbox out of every call: most probes must fail then, which shows that they can. */
const WITHOUT_SANDBOX = process.env.WALDO_PROBE_WITHOUT_SANDBOX !== undefined

/** Would send packets to other machines if nothing held them back. */
const LEAVES_MACHINE = /192\.0\.2\.|169\.254\.|getaddrinfo/

/** There is nothing to try here. */
export class NotApplicable extends Error {}

/** What came of an attempt: why it counts as a failure, and all it has said. */
export interface Outcome {
  readonly reasons: string[]
  readonly said: string
}

/** A probe on its way, with everything it needs. */
export class Attempt {
  readonly probe: Probe
  readonly bench: Bench
  readonly surroundings: Surroundings
  readonly connection: Connection

  constructor(probe: Probe, bench: Bench, surroundings: Surroundings, connection: Connection) {
    this.probe = probe
    this.bench = bench
    this.surroundings = surroundings
    this.connection = connection
    const { capabilities } = connection
    if (probe.needs && !capabilities[probe.needs])
      throw new NotApplicable(`the server does not announce ${probe.needs}`)
    if (!WITHOUT_SANDBOX) return
    if (isHarmful(probe)) throw new NotApplicable('it would harm this machine without a sandbox')
    if (LEAVES_MACHINE.test(JSON.stringify(probe))) throw new NotApplicable('it would leave this machine')
  }

  /** The `sandbox` member of a call, changed as the probe wants it. */
  sandbox(change: (sandbox: SandboxContext) => void = () => undefined): { sandbox?: SandboxContext } {
    if (WITHOUT_SANDBOX) return {}
    const sandbox = sandboxContext(this.fill(this.probe), this.surroundings.ws)
    change(sandbox)
    return { sandbox }
  }

  fill<T>(value: T): T {
    return this.bench.fill(this.surroundings, value)
  }
}
