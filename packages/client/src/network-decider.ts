import { abortable, linked, type ManagedNetwork, type NetworkRequest } from '@waldo/environment'
import type { NetworkPolicyResult } from '@waldo/protocol'
import { decideMs } from './network-params.ts'

type Answer = NetworkPolicyResult['decision']

const MAX_HOST_CHARACTERS = 253
const NO_PART_OF_A_HOST = /[\p{Cc}\s]/u

/** Asks whoever decides about the network of one process. Whatever is not a clear yes is a no. */
export class NetworkDecider {
  readonly #network: ManagedNetwork
  readonly #open = new Set<{ abort(reason: Error): void }>()

  constructor(network: ManagedNetwork) {
    this.#network = network
  }

  async decide(request: Partial<NetworkRequest> | undefined, signal: AbortSignal): Promise<Answer> {
    if (!isPlausible(request)) return denied('not_allowed')
    const { protocol, host, port } = request
    const question = linked(signal)
    this.#open.add(question)
    const tooLate = () => question.abort(new Error('the decision took too long'))
    const timer = setTimeout(tooLate, decideMs(this.#network))
    try {
      // What it throws at once is no different from what it throws later.
      const verdict = (async () => await this.#network.decide!({ protocol, host, port }, question.signal))()
      return answerOf(await abortable(verdict, question.signal))
    } catch {
      // Why is between the decider and whoever wrote it: the process is told the reason, and is not to be trusted.
      return denied(question.signal.aborted ? 'decision_timeout' : 'decision_failed')
    } finally {
      clearTimeout(timer)
      question.release()
      this.#open.delete(question)
    }
  }

  /** Nobody waits for what is still undecided. */
  close(): void {
    for (const question of this.#open) question.abort(new Error('the process has ended'))
  }
}

/** `verdict` comes from a program that may not have been checked. */
function answerOf(verdict: unknown): Answer {
  if (verdict === 'allow') return { type: 'allow' }
  return denied((verdict as { deny?: unknown } | null | undefined)?.deny)
}

function denied(reason: unknown): Answer {
  return { type: 'deny', reason: typeof reason === 'string' ? reason : 'not_allowed' }
}

/** People may be shown it: what no process can have asked for is not worth their attention. */
function isPlausible(request: Partial<NetworkRequest> | undefined): request is NetworkRequest {
  const { protocol, host, port } = request ?? {}
  if (typeof protocol !== 'string' || typeof host !== 'string' || typeof port !== 'number') return false
  const isHost = host !== '' && host.length <= MAX_HOST_CHARACTERS && !NO_PART_OF_A_HOST.test(host)
  return isHost && Number.isInteger(port) && port >= 0 && port <= 65_535
}
