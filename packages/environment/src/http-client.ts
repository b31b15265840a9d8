import type { CallOptions } from './environment.ts'

export interface HttpHeader {
  readonly name: string
  readonly value: string
  /** A variable of the environment itself, appended to the value there. */
  readonly valueEnvVar?: string | undefined
}

export interface HttpRequestOptions extends CallOptions {
  readonly method?: string | undefined
  readonly headers?: readonly HttpHeader[] | Readonly<Record<string, string>> | undefined
  readonly body?: string | Uint8Array | undefined
  /** For everything, redirects and body included. */
  readonly timeoutMs?: number | undefined
  readonly redirect?: 'follow' | 'stop' | undefined
}

export interface HttpResponse {
  readonly status: number
  /** Names in lower case, in order, repeats kept. */
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** As it comes. Cancelling it ends the request. */
  readonly body: ReadableStream<Uint8Array>
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
}

/** Requests from the environment's own network. Any status is a success. */
export interface HttpClient {
  request(url: string | URL, options?: HttpRequestOptions): Promise<HttpResponse>
  /** The same with the face of the standard function, to be handed to libraries that take one. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
}
