import { type AdditionalPermissions, coversPermissions, unitePermissions } from './additional-permissions.ts'

type Scope = 'turn' | 'conversation'

/** What was granted ahead, by environment. What a turn was granted ends with it. */
export class GrantedPermissions {
  readonly #granted: Record<Scope, Map<string, AdditionalPermissions>> = { turn: new Map(), conversation: new Map() }

  grant(environmentId: string, permissions: AdditionalPermissions, scope: Scope): void {
    const granted = this.#granted[scope]
    const before = granted.get(environmentId)
    granted.set(environmentId, before ? unitePermissions(before, permissions) : permissions)
  }

  endTurn(): void {
    this.#granted.turn.clear()
  }

  of(environmentId: string): AdditionalPermissions | undefined {
    const [turn, conversation] = [this.#granted.turn.get(environmentId), this.#granted.conversation.get(environmentId)]
    return turn && conversation ? unitePermissions(turn, conversation) : (turn ?? conversation)
  }

  /** Whether there is nothing left to ask about. */
  covers(environmentId: string, wanted: AdditionalPermissions): boolean {
    const granted = this.of(environmentId)
    return granted !== undefined && coversPermissions(granted, wanted)
  }
}
