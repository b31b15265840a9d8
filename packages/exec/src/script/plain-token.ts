/** A piece of a plain script. `name` is the word that says which command it is. */
export interface PlainToken {
  readonly kind: 'name' | 'word' | 'assignment' | 'redirect' | 'operator'
  readonly start: number
  readonly end: number
}
