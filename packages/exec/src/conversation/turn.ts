import type { ReadyEnvironments } from '@waldo/environment'
import type { Permissions } from '@waldo/protocol'
import { TurnAborted } from '../orchestrator/turn-aborted.ts'
import { keepingPaths } from '../permissions/protected-paths.ts'
import { permissionsOf, type SandboxPlace } from '../permissions/sandbox-requests.ts'
import { endQuietly } from '../unified-exec/end-quietly.ts'
import type { ExecSession } from '../unified-exec/exec-session.ts'
import type { Lifetime } from '../unified-exec/session-facts.ts'
import type { Services } from './services.ts'
import type { Settings } from './settings.ts'

/** A process that was running when a turn ended. */
export interface TurnSession {
  readonly sessionId: number
  readonly command: string
  readonly lifetime: Lifetime
}

export interface TurnEnd {
  readonly ended: readonly TurnSession[]
  readonly surviving: readonly TurnSession[]
}

/** One request of a user and everything that a model does about it. What it may do and where is fixed for its time. */
export class Turn {
  readonly id: string
  readonly environments: ReadyEnvironments
  readonly settings: Settings
  readonly #services: Services
  readonly #permissions: Permissions
  readonly #controller = new AbortController()

  constructor(id: string, environments: ReadyEnvironments, settings: Settings, services: Services) {
    this.id = id
    this.environments = environments
    this.settings = settings
    this.#services = services
    this.#permissions = permissionsOf(settings.permissions)
  }

  /** What commands may do there if nobody is asked. */
  permissionsIn(place: SandboxPlace): Permissions {
    return keepingPaths(this.#permissions, this.#services.keptPaths, place)
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
    const { store, granted } = this.#services
    granted.endTurn(this.id)
    const open = store.open.filter(({ hasExited }) => !hasExited)
    const ending = open.filter(({ facts }) => facts.lifetime === 'turn' && facts.turnId === this.id)
    await Promise.all(ending.map((session) => endQuietly(session, reason, this.#services)))
    const surviving = open.filter((session) => !session.hasExited)
    return { ended: ending.filter((session) => session.hasExited).map(named), surviving: surviving.map(named) }
  }
}

function named({ facts: { id, command, lifetime } }: ExecSession): TurnSession {
  return { sessionId: id, command, lifetime }
}
