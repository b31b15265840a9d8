const REASONS = new Map([
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset by the server'],
  ['EPIPE', 'connection closed by the server'],
  ['ETIMEDOUT', 'connection timed out'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['ENETUNREACH', 'network is unreachable'],
  ['EADDRNOTAVAIL', 'no route to the host'],
  ['EMFILE', 'the executor has too many open files'],
  ['ENFILE', 'the executor has too many open files'],
  ['ENOTFOUND', 'the host name cannot be resolved'],
  ['ENODATA', 'the host name cannot be resolved'],
  ['EAI_AGAIN', 'the host name cannot be resolved now'],
  ['ECANCELLED', 'the host name cannot be resolved now'],
  ['DNS_ENOTFOUND', 'the host name cannot be resolved'],
  ['CERT_HAS_EXPIRED', 'certificate has expired'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'the server does not speak TLS'],
])

/** Why something with a socket went wrong, for people. */
export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = (error.cause instanceof Error ? error.cause : error) as NodeJS.ErrnoException
  return (code !== undefined && REASONS.get(code)) || error.message || code || error.name
}
