import { type AdditionalPermissions, unitePermissions } from './additional-permissions.ts'

/** For the rest of a turn, or of the conversation. */
export type GrantScope = { readonly turnId: string } | 'conversation'

/** What was granted ahead, by environment. What a turn was granted is for no other. */
export class GrantedPermissions {
  readonly #conversation = new Map<string, AdditionalPermissions>()
  readonly #turns = new Map<string, Map<string, AdditionalPermissions>>()

  grant(environmentId: string, permissions: AdditionalPermissions, scope: GrantScope): void {
    const granted = scope === 'conversation' ? this.#conversation : this.#ofTurn(scope.turnId)
    const before = granted.get(environmentId)
    granted.set(environmentId, before ? unitePermissions(before, permissions) : permissions)
  }

  endTurn(turnId: string): void {
    this.#turns.delete(turnId)
  }

  of(environmentId: string, turnId: string): AdditionalPermissions | undefined {
    const turn = this.#turns.get(turnId)?.get(environmentId)
    const conversation = this.#conversation.get(environmentId)
    return turn && conversation ? unitePermissions(turn, conversation) : (turn ?? conversation)
  }

  #ofTurn(turnId: string): Map<string, AdditionalPermissions> {
    const granted = this.#turns.get(turnId) ?? new Map()
    this.#turns.set(turnId, granted)
    return granted
  }
}
