import type { ReviewDecision } from './review-decision.ts'

/** 900 tokens: the model is to read it. */
const MAX_REJECTION = 3_600

/** A decision from a program that nobody has checked. Throws for anything that is not clearly one. */
export function checkedDecision(value: unknown): ReviewDecision {
  const { kind, scope, amendment, host, action, rejection } = Object(value) as Record<string, unknown>
  switch (kind) {
    case 'approved':
    case 'approved_for_session':
    case 'timed_out':
    case 'abort':
      return { kind }
    case 'denied':
      if (rejection === undefined) return { kind }
      if (typeof rejection === 'string') return { kind, rejection: rejection.slice(0, MAX_REJECTION) }
      throw new TypeError('the answer is "denied" with a `rejection` that is no text')
    case 'approved_execpolicy_amendment': {
      const { prefix, sandbox } = Object(amendment) as Record<string, unknown>
      if (!isScope(scope) || !isWords(prefix)) break
      return { kind, amendment: { prefix: [...prefix], ...(sandbox === 'bypass' && { sandbox }) }, scope }
    }
    case 'network_policy_amendment':
      if (!isScope(scope) || typeof host !== 'string' || (action !== 'allow' && action !== 'deny')) break
      return { kind, host, action, scope }
    default:
      throw new TypeError(
        `the answer is of no known kind (${typeof kind === 'string' ? kind.slice(0, 50) : typeof kind})`,
      )
  }
  throw new TypeError(`the answer is "${kind}" without everything that belongs to it`)
}

function isScope(scope: unknown): scope is 'project' | 'user' {
  return scope === 'project' || scope === 'user'
}

/** A rule without words would be one for everything. */
function isWords(prefix: unknown): prefix is readonly string[] {
  return Array.isArray(prefix) && prefix.length > 0 && prefix.every((word) => typeof word === 'string')
}
