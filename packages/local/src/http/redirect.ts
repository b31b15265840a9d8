import { type OutgoingRequest, takeUserinfo } from './outgoing-request.ts'
import type { ResponseHead } from './response-parser.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const SENSITIVE = new Set(['authorization', 'cookie', 'proxy-authorization'])
const ABOUT_THE_BODY = /^content-/

/** What to ask for next, as ordinary clients do; undefined if the response is no redirect. */
export function redirect(request: OutgoingRequest, { status, headers }: ResponseHead): OutgoingRequest | undefined {
  if (!REDIRECTS.has(status)) return undefined
  const location = headers.find(({ name }) => name === 'location')
  if (!location) return undefined
  const target = URL.parse(location.value, request.url.href)
  if (!target) throw new Error(`redirected to something that is no URL: ${printable(location.value)}`)
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    throw new Error(`redirected to ${target.protocol}, only http: and https: are followed`)
  }
  const toGet = status === 303 ? request.method !== 'HEAD' : status < 303 && request.method === 'POST'
  const elsewhere = target.origin !== request.url.origin
  const kept = request.headers.filter(({ name, secret }) => {
    const lower = name.toLowerCase()
    if (toGet && ABOUT_THE_BODY.test(lower)) return false
    return !elsewhere || !(secret || SENSITIVE.has(lower) || lower === 'host')
  })
  const { url, headers: next } = takeUserinfo(target, kept)
  return {
    method: toGet ? 'GET' : request.method,
    url,
    headers: next,
    body: toGet ? undefined : request.body,
  }
}

/** Somebody else's text, short enough for a message. */
function printable(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}
