import { FrameError } from './frame-error.ts'
import { decodeUtf8 } from './utf8.ts'

const MAX_REASON_BYTES = 123

export interface CloseReason {
  /** Undefined if none was given. */
  readonly code: number | undefined
  readonly reason: string
}

export function decodeClosePayload(payload: Uint8Array): CloseReason {
  if (payload.length === 0) return { code: undefined, reason: '' }
  if (payload.length === 1) throw new FrameError(1002, 'a close code takes two bytes')
  const code = payload[0]! * 256 + payload[1]!
  if (!mayBeSent(code)) throw new FrameError(1002, `${code} is no close code to send`)
  const reason = decodeUtf8(payload, 2, payload.length)
  if (reason === undefined) throw new FrameError(1007, 'the reason to close is not UTF-8')
  return { code, reason }
}

/** A reason that is too long is cut, between two characters. */
export function encodeClosePayload({ code, reason }: CloseReason): Uint8Array {
  if (code === undefined) return new Uint8Array()
  const payload = new Uint8Array(2 + MAX_REASON_BYTES)
  payload[0] = code >> 8
  payload[1] = code & 0xff
  const { written } = new TextEncoder().encodeInto(reason, payload.subarray(2))
  return payload.subarray(0, 2 + written)
}

/** Those that are registered, without those that stand for a missing code or a lost connection; and private ones. */
function mayBeSent(code: number): boolean {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999)
}
