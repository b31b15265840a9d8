import { ExecError, protectsToken, TOKEN_UNPROTECTED } from '@waldo/environment'

/** Where a server is, checked. */
export type ServerUrl =
  | { readonly kind: 'socket'; readonly url: URL }
  | { readonly kind: 'unix'; readonly path: string }

/** A token is only for who is meant to have it: over TLS, or on this machine. */
export function parseServerUrl(text: string, hasToken: boolean): ServerUrl {
  if (/^unix:/i.test(text)) {
    const path = text.replace(/^unix:(\/\/)?/i, '')
    if (!path.startsWith('/')) throw invalid(text, 'must name an absolute path, as in unix:///run/waldo.sock')
    return { kind: 'unix', path }
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !['ws:', 'wss:'].includes(url.protocol)) throw invalid(text, 'must use ws://, wss:// or unix://')
  if (hasToken && !protectsToken(text)) throw invalid(text, TOKEN_UNPROTECTED)
  return { kind: 'socket', url }
}

function invalid(url: string, why: string): ExecError {
  return new ExecError('REFUSED', `environment url \`${url}\` ${why}`)
}
