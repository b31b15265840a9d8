/** The credentials that the vectors speak of. */
export const TOKEN = 'vector-token'
export const SECRET = 'vector-shared-secret-vector-shared-secret'

export function vectorTokens(): Record<string, string> {
  const now = Math.floor(Date.now() / 1000)
  const named = { iss: 'vec-iss', aud: 'vec-aud' }
  return {
    TOKEN,
    TOKEN_SHA256: new Bun.CryptoHasher('sha256').update(TOKEN).digest('hex'),
    JWT_OK: jwt({ exp: now + 3600, iss: 'vec-iss', aud: ['other', 'vec-aud'] }),
    JWT_EXPIRED: jwt({ ...named, exp: now - 3600 }),
    JWT_SKEW: jwt({ ...named, exp: now - 5 }),
    JWT_NBF: jwt({ ...named, exp: now + 7200, nbf: now + 3600 }),
    JWT_ISS: jwt({ exp: now + 3600, iss: 'x', aud: 'vec-aud' }),
    JWT_AUD: jwt({ exp: now + 3600, iss: 'vec-iss' }),
    JWT_NOEXP: jwt(named),
    JWT_ALG: jwt({ ...named, exp: now + 3600 }, 'HS512'),
    JWT_NONE: jwt({ ...named, exp: now + 3600 }, 'none'),
  }
}

function jwt(claims: object, alg = 'HS256'): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg, typ: 'JWT' })}.${part(claims)}`
  if (alg === 'none') return `${signed}.`
  const hasher = new Bun.CryptoHasher(alg === 'HS512' ? 'sha512' : 'sha256', SECRET)
  return `${signed}.${hasher.update(signed).digest('base64url')}`
}
