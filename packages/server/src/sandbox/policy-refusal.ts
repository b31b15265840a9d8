import { ErrorCode, ProtocolError } from '@waldo/protocol'
import { PolicyError } from '@waldo/sandbox'

/** Why a profile is refused, for programs. */
const KINDS: Readonly<Record<PolicyError['kind'], string>> = {
  context: 'sandboxInvalid',
  foreign: 'sandboxInvalid',
  unenforceable: 'sandboxUnenforceable',
  unavailable: 'sandboxUnavailable',
}

/** What cannot be enforced is refused, with the number that clients of the reference know. Other errors stay as they are. */
export function policyRefusal(error: unknown, code: ErrorCode): unknown {
  if (!(error instanceof PolicyError)) return error
  const invalidContext = error.kind === 'context' ? ErrorCode.invalidParams : code
  return new ProtocolError(invalidContext, error.message, { cause: error, data: { kind: KINDS[error.kind] } })
}
