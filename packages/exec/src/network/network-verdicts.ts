import { ApprovalCache } from '../approvals/approval-cache.ts'
import type { NetworkTarget } from './network-target.ts'

/** What holds until the conversation ends. A denial is for good: no approval, earlier or later, is stronger. */
export class NetworkVerdicts {
  readonly #approved = new ApprovalCache()
  readonly #denied = new ApprovalCache()

  about(target: NetworkTarget): 'approved' | 'denied' | undefined {
    if (this.#denied.covers([target])) return 'denied'
    return this.#approved.covers([target]) ? 'approved' : undefined
  }

  approve(target: NetworkTarget): void {
    this.#approved.add([target])
  }

  deny(target: NetworkTarget): void {
    this.#denied.add([target])
  }
}
