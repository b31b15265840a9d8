import {
  type EnvironmentChoice,
  type EnvironmentSelection,
  type KnownEnvironments,
  moved,
  select,
} from './environment-selection.ts'
import { pathFromText } from './path-from-text.ts'

export interface ConversationStart {
  /** Omitted: the default environment. Empty: none. */
  readonly environments?: readonly EnvironmentChoice[] | null | undefined
  /** The directory of the default environment; not looked at if environments are given, which bring their own. */
  readonly cwd: string
}

export interface TurnRequest {
  /** Omitted: those of the conversation. Empty: none. */
  readonly environments?: readonly EnvironmentChoice[] | null | undefined
  /** Another directory for the primary environment; not looked at if environments are given, which bring their own. */
  readonly cwd?: string | null | undefined
  /** Whether what is said here holds from now on, and not for this turn only. */
  readonly persist?: boolean | undefined
}

/** Where a conversation works: chosen at its start, and until a turn says otherwise. */
export class StickySelection {
  readonly #known: KnownEnvironments
  #current: EnvironmentSelection

  constructor(known: KnownEnvironments, { environments, cwd }: ConversationStart) {
    this.#known = known
    const fallback = known.defaultId === undefined ? [] : [{ environmentId: known.defaultId, cwd }]
    this.#current = select(environments ?? fallback, known)
  }

  get current(): EnvironmentSelection {
    return this.#current
  }

  /** Where this turn works. A request that makes no sense changes nothing. */
  forTurn({ environments, cwd, persist = false }: TurnRequest = {}): EnvironmentSelection {
    const selection = environments ? select(environments, this.#known) : this.#inDirectory(cwd ?? undefined)
    if (persist) this.#current = selection
    return selection
  }

  #inDirectory(cwd: string | undefined): EnvironmentSelection {
    if (cwd === undefined) return this.#current
    const uri = pathFromText(cwd)
    const gone = (id: string) => ['failed', 'closed', undefined].includes(this.#known.get(id)?.status.state)
    const standing = this.#current.findIndex(({ environmentId }) => !gone(environmentId))
    // Which will be ready first is known only once the turn connects. If all are gone, the first is what was meant.
    const primary = Math.max(0, standing)
    return this.#current.map((selected, index) => (index === primary ? moved(selected, uri) : selected))
  }
}
