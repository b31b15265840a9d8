import { type JsonLimits, parseStrictJson } from './strict-json.ts'

/** A request id as JSON text, to be echoed to the letter: `7`, `"a"`, `9223372036854775807`. */
export type IdText = string

export interface Request {
  readonly kind: 'request'
  readonly id: IdText
  readonly method: string
  readonly params: unknown
}
interface Notification {
  readonly kind: 'notification'
  readonly method: string
  readonly params: unknown
}
interface Response {
  readonly kind: 'response'
  readonly id: IdText
  readonly result?: unknown
  readonly error?: { code: number; message: string; data?: unknown }
}
export type Message = Request | Notification | Response

/** A text that is not a JSON-RPC message. The connection survives it. */
export class MalformedMessageError extends Error {
  override readonly name = 'MalformedMessageError'
}

export function parseMessage(text: string, limits: JsonLimits): Message {
  const { value, idText } = malformedUnless(() => parseStrictJson(text, limits))
  if (!isRecord(value)) throw new MalformedMessageError('expected a JSON-RPC object')
  if (Object.hasOwn(value, 'method')) {
    if (typeof value.method !== 'string') throw new MalformedMessageError('`method` must be a string')
    if (!Object.hasOwn(value, 'id')) return { kind: 'notification', method: value.method, params: value.params }
    checkTrace(value.trace)
    return { kind: 'request', id: readId(value.id, idText), method: value.method, params: value.params }
  }
  if (Object.hasOwn(value, 'result')) return { kind: 'response', id: readId(value.id, idText), result: value.result }
  const { error } = value
  if (!isRecord(error)) throw new MalformedMessageError('neither `method` nor `result` nor `error` is there')
  if (!Number.isInteger(error.code) || typeof error.message !== 'string') {
    throw new MalformedMessageError('`error` needs an integer `code` and a string `message`')
  }
  return { kind: 'response', id: readId(value.id, idText), error: error as NonNullable<Response['error']> }
}

/** `result` must be something that JSON can say; `undefined` would leave the member out. */
export function encodeResult(id: IdText, result: object): string {
  return `{"id":${id},"result":${JSON.stringify(result)}}`
}

export function encodeError(id: IdText, code: number, message: string, data?: object): string {
  const more = data === undefined ? '' : `,"data":${JSON.stringify(data)}`
  return `{"error":{"code":${code},"message":${JSON.stringify(message)}${more}},"id":${id}}`
}

export function encodeNotification(method: string, params: object): string {
  return `{"method":${JSON.stringify(method)},"params":${JSON.stringify(params)}}`
}

/** Strings, and integers that fit 64 bits with sign, spelled without fraction and exponent. */
function readId(id: unknown, idText: string | undefined): IdText {
  if (typeof id === 'string') return JSON.stringify(id)
  if (typeof id === 'number' && idText !== undefined && /^-?\d{1,19}$/.test(idText)) {
    if (Number.isSafeInteger(id)) return String(id)
    const exact = BigInt(idText)
    if (exact === BigInt.asIntN(64, exact)) return idText
  }
  throw new MalformedMessageError('`id` must be a string or a 64-bit integer without fraction or exponent')
}

/** W3C trace context. Its content is not checked, only that it is one. */
function checkTrace(trace: unknown): void {
  if (trace === undefined || trace === null) return
  if (!isRecord(trace)) throw new MalformedMessageError('`trace` must be an object')
  for (const name of ['traceparent', 'tracestate']) {
    const member = trace[name]
    if (member !== undefined && member !== null && typeof member !== 'string') {
      throw new MalformedMessageError(`\`trace.${name}\` must be a string`)
    }
  }
}

function malformedUnless<T>(parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    throw new MalformedMessageError((cause as Error).message, { cause })
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
