/**
 * A profile that cannot be enforced as it stands.
 *
 * `context`: it needs to know a directory that it was not given. `foreign`: it names paths of another system.
 * `unenforceable`: nobody could see to it. `unavailable`: this machine cannot, whatever it is.
 */
export class PolicyError extends Error {
  override readonly name = 'PolicyError'
  readonly kind: 'context' | 'foreign' | 'unenforceable' | 'unavailable'

  constructor(kind: PolicyError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}
