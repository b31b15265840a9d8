import { DecidedNetwork } from './decided-network.ts'
import type { ExecutionNetwork, NetworkExecution, NetworkServices } from './network-execution.ts'
import { NetworkVerdicts } from './network-verdicts.ts'

export type NetworkApprovalsOptions = Omit<NetworkServices, 'verdicts' | 'now'> & Partial<Pick<NetworkServices, 'now'>>

/** Asks about hosts, for one conversation. What is decided for longer than once holds for all of its commands. */
export class NetworkApprovals {
  readonly #services: NetworkServices

  constructor(options: NetworkApprovalsOptions) {
    this.#services = { now: () => performance.now(), ...options, verdicts: new NetworkVerdicts() }
  }

  forExecution(execution: NetworkExecution): ExecutionNetwork {
    return new DecidedNetwork(execution, this.#services)
  }
}
