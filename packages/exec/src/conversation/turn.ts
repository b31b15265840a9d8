import type { ReadyEnvironments } from '@waldo/environment'
import type { Permissions } from '@waldo/protocol'
import { TurnAborted } from '../orchestrator/turn-aborted.ts'
import { keepingPaths } from '../permissions/protected-paths.ts'
import { permissionsOf, type SandboxPlace } from '../permissions/sandbox-requests.ts'
import type { ExecSession } from '../unified-exec/exec-session.ts'
import type { Services } from './services.ts'
import type { Settings } from './settings.ts'

/** A process that goes on when a turn does not. */
export interface Survivor {
  readonly sessionId: number
  readonly command: string
  readonly lifetime: 'turn' | 'conversation' | 'detached'
}

export interface TurnEnd {
  readonly ended: readonly Survivor[]
  readonly surviving: readonly Survivor[]
}

/** One request of a user and everything that a model does about it. What it may do and where is fixed for its time. */
export class Turn {
  readonly id: string
  readonly environments: ReadyEnvironments
  readonly settings: Settings
  readonly #services: Services
  readonly #controller = new AbortController()

  constructor(id: string, environments: ReadyEnvironments, settings: Settings, services: Services) {
    this.id = id
    this.environments = environments
    this.settings = settings
    this.#services = services
  }

  /** What commands may do there if nobody is asked. */
  permissionsIn(place: SandboxPlace): Permissions {
    return keepingPaths(permissionsOf(this.settings.permissions), this.#services.keptPaths, place)
  }

  /** Aborts when the turn is over: what a call waits for then, nobody waits for. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What was started for this turn alone ends. The rest goes on, and is named. */
  async end(): Promise<TurnEnd> {
    return await this.#finish('the turn is over')
  }

  /** The same, in the middle: calls that wait are given up. */
  async interrupt(): Promise<TurnEnd> {
    return await this.#finish('the turn was interrupted')
  }

  async #finish(reason: string): Promise<TurnEnd> {
    this.#controller.abort(new TurnAborted(reason))
    const { store, granted, events } = this.#services
    granted.endTurn(this.id)
    const open = store.open.filter(({ hasExited }) => !hasExited)
    const ending = open.filter(({ facts }) => facts.lifetime === 'turn' && facts.turnId === this.id)
    const outcomes = await Promise.allSettled(ending.map((session) => session.kill(reason)))
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') continue
      const { callId, turnId, id } = ending[index]!.facts
      const text = `process ${id} could not be ended: ${(outcome.reason as Error).message}`
      events.emit({ type: 'warning', callId, turnId, text })
    }
    const surviving = open.filter((session) => !session.hasExited)
    return { ended: ending.filter((session) => session.hasExited).map(named), surviving: surviving.map(named) }
  }
}

function named({ facts: { id, command, lifetime } }: ExecSession): Survivor {
  return { sessionId: id, command, lifetime }
}
