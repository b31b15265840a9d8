/** Why a request is refused, in words for whoever sent it; undefined if it is welcome. */
export type Authenticator = (authorization: string | null) => string | undefined

export interface SignedTokenOptions {
  readonly secret: Uint8Array
  readonly issuer: string | undefined
  readonly audience: string | undefined
  readonly maxClockSkewSeconds: number
}

/** One secret that all clients know. Only its digest is needed to check it. */
export function capabilityToken(sha256: Uint8Array): Authenticator {
  return bearer((token) => {
    const digest = new Bun.CryptoHasher('sha256').update(token).digest()
    return crypto.timingSafeEqual(digest, sha256) ? undefined : 'invalid websocket bearer token'
  })
}

/** Tokens that somebody who knows the secret has issued: JWT, HS256 and nothing else, with an end. */
export function signedToken({ secret, issuer, audience, maxClockSkewSeconds }: SignedTokenOptions): Authenticator {
  return bearer((token) => {
    const [header, payload, signature, ...rest] = token.split('.')
    if (!header || !payload || !signature || rest.length > 0) return 'invalid websocket jwt'
    if (decode(header)?.alg !== 'HS256') return 'invalid websocket jwt'
    const expected = new Bun.CryptoHasher('sha256', secret).update(`${header}.${payload}`).digest()
    const given = Buffer.from(signature, 'base64url')
    if (given.length !== expected.length || !crypto.timingSafeEqual(given, expected)) return 'invalid websocket jwt'
    const claims = decode(payload)
    if (!claims || typeof claims.exp !== 'number') return 'invalid websocket jwt'
    if (claims.nbf !== undefined && typeof claims.nbf !== 'number') return 'invalid websocket jwt'
    const now = Date.now() / 1000
    if (claims.exp + maxClockSkewSeconds < now) return 'expired websocket jwt'
    if (claims.nbf !== undefined && claims.nbf - maxClockSkewSeconds > now) return 'websocket jwt is not valid yet'
    if (issuer !== undefined && claims.iss !== issuer) return 'websocket jwt issuer mismatch'
    if (audience !== undefined && ![claims.aud].flat().includes(audience)) return 'websocket jwt audience mismatch'
    return undefined
  })
}

function bearer(check: (token: string) => string | undefined): Authenticator {
  return (authorization) => {
    if (authorization === null) return 'missing websocket bearer token'
    const [, token] = /^bearer\s+(.*)$/i.exec(authorization.trim()) ?? []
    return token ? check(token.trim()) : 'invalid authorization header'
  }
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
