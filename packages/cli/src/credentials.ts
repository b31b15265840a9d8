import { readFileSync } from 'node:fs'
import { type Authenticator, capabilityToken, signedToken } from '@waldo/server'
import { UsageError } from './usage-error.ts'

interface AuthenticationFlags {
  readonly 'ws-auth'?: string
  readonly 'ws-token-file'?: string
  readonly 'ws-token-sha256'?: string
  readonly 'ws-shared-secret-file'?: string
  readonly 'ws-issuer'?: string
  readonly 'ws-audience'?: string
  readonly 'ws-max-clock-skew-seconds'?: string
}

const TOKEN_FLAGS = ['ws-token-file', 'ws-token-sha256'] as const
const SIGNED_FLAGS = ['ws-shared-secret-file', 'ws-issuer', 'ws-audience', 'ws-max-clock-skew-seconds'] as const

/** Flags that contradict each other are refused: somebody means to be protected, and would not be. */
export function readAuthentication(flags: AuthenticationFlags): Authenticator | undefined {
  const mode = flags['ws-auth']
  const given = (names: readonly (keyof AuthenticationFlags)[]) => names.filter((name) => flags[name] !== undefined)
  if (mode === undefined) {
    if (given([...TOKEN_FLAGS, ...SIGNED_FLAGS]).length === 0) return undefined
    throw new UsageError('websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`')
  }
  if (mode !== 'capability-token' && mode !== 'signed-bearer-token') {
    throw new UsageError(`--ws-auth ${mode}: expected capability-token or signed-bearer-token`)
  }
  const [stray] = given(mode === 'capability-token' ? SIGNED_FLAGS : TOKEN_FLAGS)
  if (stray) throw new UsageError(`--${stray} does not go with \`--ws-auth ${mode}\``)
  return mode === 'capability-token' ? readCapabilityToken(flags) : readSignedToken(flags)
}

export function readTls(flags: { 'tls-cert'?: string; 'tls-key'?: string }) {
  const { 'tls-cert': cert, 'tls-key': key } = flags
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) throw new UsageError('--tls-cert and --tls-key go together')
  return { cert: readSecret('--tls-cert', cert), key: readSecret('--tls-key', key) }
}

function readCapabilityToken(flags: AuthenticationFlags): Authenticator {
  const { 'ws-token-file': file, 'ws-token-sha256': digest } = flags
  if ((file === undefined) === (digest === undefined)) {
    throw new UsageError(
      file === undefined
        ? '`--ws-token-file` or `--ws-token-sha256` is required when `--ws-auth capability-token` is set'
        : '`--ws-token-file` and `--ws-token-sha256` exclude each other',
    )
  }
  if (file !== undefined) {
    const token = readSecret('--ws-token-file', file)
    if (token === '') throw new UsageError(`--ws-token-file ${file}: the file is empty`)
    return capabilityToken(new Bun.CryptoHasher('sha256').update(token).digest())
  }
  if (!/^[0-9a-f]{64}$/i.test(digest!)) {
    throw new UsageError('--ws-token-sha256 must be a 64-character hex SHA-256 digest')
  }
  return capabilityToken(Buffer.from(digest!, 'hex'))
}

function readSignedToken(flags: AuthenticationFlags): Authenticator {
  const file = flags['ws-shared-secret-file']
  if (file === undefined) {
    throw new UsageError('`--ws-shared-secret-file` is required when `--ws-auth signed-bearer-token` is set')
  }
  const secret = Buffer.from(readSecret('--ws-shared-secret-file', file))
  if (secret.length < 32) throw new UsageError(`signed websocket bearer secret ${file} must be at least 32 bytes`)
  const skew = flags['ws-max-clock-skew-seconds'] ?? '30'
  if (!/^\d{1,9}$/.test(skew)) throw new UsageError(`--ws-max-clock-skew-seconds ${skew}: expected a number`)
  const { 'ws-issuer': issuer, 'ws-audience': audience } = flags
  return signedToken({ secret, issuer, audience, maxClockSkewSeconds: Number(skew) })
}

function readSecret(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`${flag} ${path}: ${(error as Error).message}`)
  }
}
