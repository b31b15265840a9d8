/**
 * For errors that nobody expects, from code that serves one connection. The connection is to be ended by the caller; the
 * server and everybody else on it go on. (`reportError` would end the process.)
 */
export function reportDefect(error: unknown): void {
  process.stderr.write(`a connection was dropped because of a defect: ${Bun.inspect(error)}\n`)
}
