import { type ErrorCode, limits } from '@waldo/protocol'
import type { Frame } from './helper-frames.ts'

/** What a helper says to a call. */
export type HelperAnswer =
  /** Nothing has happened: the answer needs room for so many bytes. */
  | { readonly kind: 'needs'; readonly bytes: number }
  | { readonly kind: 'error'; readonly code: ErrorCode; readonly message: string }
  /** `member` of the result holds the payload as base64. */
  | { readonly kind: 'result'; readonly result: object; readonly member: 'dataBase64' | 'chunk' | undefined }

/** No answer takes more. */
const MAX_ROOM = limits.messageBytes

/**
 * Reads what came from a helper. That only sees files of others, but these can be anything: should one of them have
 * talked it into something, it must not be able to harm us. Throws for what it would never say by itself.
 */
export function readAnswer({ message }: Pick<Frame, 'message'>): { id: number; answer: HelperAnswer } {
  const { id, needs, result, bytes, error } = (message ?? {}) as Record<string, unknown>
  if (!Number.isSafeInteger(id)) throw new Error('an answer to nobody')
  return { id: id as number, answer: answerOf(needs, result, bytes, error) }
}

function answerOf(needs: unknown, result: unknown, member: unknown, error: unknown): HelperAnswer {
  if (needs !== undefined) {
    if (!Number.isSafeInteger(needs) || (needs as number) > MAX_ROOM) throw new Error(`an answer of ${needs} bytes`)
    return { kind: 'needs', bytes: needs as number }
  }
  if (error !== undefined) {
    const { code, message } = (error ?? {}) as Record<string, unknown>
    if (!Number.isSafeInteger(code) || typeof message !== 'string') throw new Error('an error that says nothing')
    return { kind: 'error', code: code as ErrorCode, message }
  }
  if (typeof result !== 'object' || result === null || Array.isArray(result))
    throw new Error('an answer that says nothing')
  if (member !== undefined && member !== 'dataBase64' && member !== 'chunk') throw new Error('an unknown answer')
  return { kind: 'result', result, member }
}
