import { byteBudget, type TruncationPolicy, tokensOfBytes } from './truncation-policy.ts'
import { boundaryAfter, boundaryBefore, decodeLossy, encodeUtf8, isContinuation } from './utf8.ts'

/** What is left out of a text: the bytes from `from` to `to`. */
export interface Cut {
  readonly from: number
  readonly to: number
}

/** What has to go so that the rest is within the policy; undefined if nothing has to. `bytes` is UTF-8. */
export function findCut(bytes: Uint8Array, policy: TruncationPolicy): Cut | undefined {
  const budget = byteBudget(policy)
  if (bytes.length <= budget) return undefined
  const left = Math.floor(budget / 2)
  return { from: boundaryBefore(bytes, left), to: boundaryAfter(bytes, bytes.length - (budget - left)) }
}

/** The text without its middle, and in its place how much that was. */
export function withoutMiddle(bytes: Uint8Array, cut: Cut, policy: TruncationPolicy): string {
  const left = decodeLossy(bytes.subarray(0, cut.from))
  const right = decodeLossy(bytes.subarray(cut.to))
  return `${left}…${removed(bytes, cut, policy)} truncated…${right}`
}

/** A short text, such as a message, within the policy and its marker. */
export function truncateMiddle(text: string, policy: TruncationPolicy): string {
  // A character of a string is at most three bytes.
  if (text.length * 3 <= byteBudget(policy)) return text
  const bytes = encodeUtf8(text)
  const cut = findCut(bytes, policy)
  return cut ? withoutMiddle(bytes, cut, policy) : text
}

function removed(bytes: Uint8Array, cut: Cut, policy: TruncationPolicy): string {
  if (policy.kind === 'tokens') return `${tokensOfBytes(bytes.length - byteBudget(policy))} tokens`
  let characters = 0
  for (let at = cut.from; at < cut.to; at++) if (!isContinuation(bytes[at]!)) characters++
  return `${characters} chars`
}
