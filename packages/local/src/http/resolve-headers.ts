import { ExecError } from '@waldo/environment'

export interface HttpHeader {
  readonly name: string
  readonly value: string
  /** It holds something that the client does not know, so it never follows a redirect to another origin. */
  readonly secret?: true
}

export interface UnresolvedHeader {
  readonly name: string
  readonly value: string
  /** A variable of the executor's own environment, appended to `value`. */
  readonly valueEnvVar?: string | undefined
}

/** Credentials of whoever runs the executor. No client may have them sent anywhere. */
const NEVER_SENT = new Set([
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
  'OPENAI_API_KEY',
  'CODEX_API_KEY',
  'CODEX_ACCESS_TOKEN',
  'CODEX_CONNECTORS_TOKEN',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
  'GOOGLE_APPLICATION_CREDENTIALS',
])

/** Puts in what the client wants from the executor's environment. */
export function resolveHeaders(headers: readonly UnresolvedHeader[], env: NodeJS.ProcessEnv): HttpHeader[] {
  return headers.map(({ name, value, valueEnvVar }) => {
    if (valueEnvVar === undefined) return { name, value }
    const refuse = (what: string) => new ExecError('HTTP_INVALID', `header ${name} ${what} ${valueEnvVar}`)
    if (NEVER_SENT.has(valueEnvVar.toUpperCase())) throw refuse('cannot use executor environment variable')
    const found = Object.hasOwn(env, valueEnvVar) ? env[valueEnvVar] : undefined
    if (found === undefined) throw refuse('requires executor environment variable')
    if (found === '') throw refuse('requires a non-empty executor environment variable')
    return { name, value: value + found, secret: true }
  })
}
