import { type ExecResponse, formatResponse } from './exec-response.ts'
import type { HeadTailBuffer } from './head-tail-buffer.ts'
import { type FullOutput, originalTokenCount, shapeOutput } from './shape-output.ts'
import { byteBudget, policyOfCall, type TruncationPolicy, withBudget } from './truncation-policy.ts'
import { encodeUtf8 } from './utf8.ts'

export interface FitOptions {
  /** What the model can take. */
  readonly model: TruncationPolicy
  /** What the call asks for. */
  readonly maxOutputTokens?: number | undefined
  readonly full?: FullOutput | undefined
}

/**
 * The answer with its output, within what the model can take and a fifth more for the lines around it. The history of
 * the conversation has the same limit: what exceeds it would be cut a second time. Never less than those lines.
 */
export function fitResponse(
  response: Omit<ExecResponse, 'output' | 'originalTokenCount'>,
  output: HeadTailBuffer,
  options: FitOptions,
): string {
  const limit = Math.floor((byteBudget(options.model) * 6) / 5)
  let policy = policyOfCall(options.model, options.maxOutputTokens)
  for (;;) {
    const shaped = shapeOutput(output, policy, options.full)
    const text = formatResponse({ ...response, originalTokenCount: originalTokenCount(output), output: shaped })
    // A character of a string is at most three bytes.
    if (text.length * 3 <= limit || policy.limit === 0) return text
    const excess = encodeUtf8(text).length - limit
    if (excess <= 0) return text
    // From what there is, not from what there might be: so each round takes away something. What is cut for the first
    // time, or is a digit longer, brings lines of its own: then there is another round.
    const now = Math.min(byteBudget(policy), encodeUtf8(shaped).length)
    policy = withBudget(policy, Math.max(0, now - excess))
  }
}
