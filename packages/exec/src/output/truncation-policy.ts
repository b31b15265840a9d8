/** How much of a text is shown. */
export interface TruncationPolicy {
  readonly kind: 'tokens' | 'bytes'
  readonly limit: number
}

/** What a call gets that does not say how much it wants. */
const DEFAULT_MAX_OUTPUT_TOKENS = 10_000

/** The only estimate there is. */
const BYTES_PER_TOKEN = 4

export function tokensOfBytes(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

export function byteBudget({ kind, limit }: TruncationPolicy): number {
  if (!(limit >= 0)) throw new RangeError(`Cannot show ${limit} ${kind}: give a number that is not negative`)
  return Math.min(Math.floor(limit) * (kind === 'tokens' ? BYTES_PER_TOKEN : 1), Number.MAX_SAFE_INTEGER)
}

/** A policy of the same kind that allows no more than so many bytes. */
export function withBudget({ kind }: TruncationPolicy, bytes: number): TruncationPolicy {
  return { kind, limit: kind === 'tokens' ? Math.floor(bytes / BYTES_PER_TOKEN) : bytes }
}

/** What holds for a call: what it asks for, or what the model can take if that is less. */
export function policyOfCall(model: TruncationPolicy, maxOutputTokens = DEFAULT_MAX_OUTPUT_TOKENS): TruncationPolicy {
  const requested: TruncationPolicy = { kind: 'tokens', limit: maxOutputTokens }
  return byteBudget(requested) < byteBudget(model) ? requested : model
}
