import { ErrorCode, ProtocolError } from '@waldo/protocol'
import { PolicyError } from '@waldo/sandbox'

/** For programs: what is wrong with nothing but the profile they find in the code. */
const KINDS: Readonly<Partial<Record<PolicyError['kind'], string>>> = {
  unenforceable: 'sandboxUnenforceable',
  unavailable: 'sandboxUnavailable',
}

/** What cannot be enforced is refused, with the number that clients of the reference know. Other errors stay as they are. */
export function policyRefusal(error: unknown, code: ErrorCode): unknown {
  if (!(error instanceof PolicyError)) return error
  const invalidContext = error.kind === 'context' ? ErrorCode.invalidParams : code
  const kind = KINDS[error.kind]
  return new ProtocolError(invalidContext, error.message, { cause: error, ...(kind && { data: { kind } }) })
}
