import type { ManagedNetwork, NetworkDecision } from '@waldo/environment'
import type { NetworkPolicyRequest, NetworkPolicyResult } from '@waldo/protocol'
import { NetworkDecider } from './network-decider.ts'
import { tell } from './tell.ts'

interface Managed {
  readonly network: ManagedNetwork
  readonly decider: NetworkDecider
}

/** The networks of a session's processes: who is asked about them, and who hears of what was decided. */
export class ManagedNetworks {
  readonly #byProcess = new Map<string, Managed>()

  has(processId: string): boolean {
    return this.#byProcess.has(processId)
  }

  /** Until the returned function is called. */
  add(processId: string, network: ManagedNetwork): () => void {
    const managed = { network, decider: new NetworkDecider(network) }
    this.#byProcess.set(processId, managed)
    return () => {
      managed.decider.close()
      if (this.#byProcess.get(processId) === managed) this.#byProcess.delete(processId)
    }
  }

  /** Answers `network/policyRequest`. Rejects for a process that nobody decides about, which is a denial, too. */
  async decide(params: unknown, signal: AbortSignal): Promise<NetworkPolicyResult> {
    const { processId, request } = (params ?? {}) as Partial<NetworkPolicyRequest>
    const { network, decider } = this.#byProcess.get(String(processId)) ?? {}
    if (!network?.decide) throw new Error('nobody decides about the network of this process')
    return { decision: await decider!.decide(request, signal) }
  }

  /** Takes `network/policyDecision`. */
  decided(params: unknown): void {
    const { processId, ...decision } = (params ?? {}) as NetworkDecision & { readonly processId?: string }
    const { onDecision } = this.#byProcess.get(String(processId))?.network ?? {}
    if (onDecision) tell(onDecision, decision)
  }

  clear(): void {
    for (const { decider } of this.#byProcess.values()) decider.close()
    this.#byProcess.clear()
  }
}
