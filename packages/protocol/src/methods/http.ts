import { base64 } from '../base64.ts'
import { array, boolean, type Decoded, object, oneOf, optional, string, unsigned, withDefault } from '../decode.ts'

export const httpRequestParams = object({
  method: string,
  url: string,
  /** Needed even where nothing is streamed. */
  requestId: string,
  headers: withDefault(array(object({ name: string, value: string, valueEnvVar: optional(string) })), []),
  bodyBase64: optional(base64),
  /** For everything, the body of the answer included. */
  timeoutMs: optional(unsigned()),
  redirectPolicy: withDefault(oneOf('follow', 'stop'), 'follow'),
  streamResponse: withDefault(boolean, false),
})
export type HttpRequestParams = Decoded<typeof httpRequestParams>

export interface HttpRequestResult {
  status: number
  headers: { name: string; value: string }[]
  /** Empty when the body is streamed. */
  bodyBase64: string
}

/** Extension `httpFlow`: whether a streamed body is sent as it comes, or waits. */
export const httpFlowParams = object({ requestId: string, push: boolean })

/** Extension `httpCancel`. */
export const httpCancelParams = object({ requestId: string })

export interface HttpCancelResult {
  /** False if there is no such request any more. */
  cancelled: boolean
}

export interface HttpBodyDelta {
  requestId: string
  seq: number
  deltaBase64: string
  done: boolean
  error: string | null
}
