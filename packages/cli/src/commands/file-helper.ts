import { serve } from '@waldo/server'
import { printError } from '../print.ts'
import { VERSION } from '../version.ts'

/**
 * What a server starts for work on files that may hang or run away: an executor on standard input and output that ends
 * with its input. Not for people.
 */
export async function fileHelperCommand(): Promise<number> {
  const server = await serve({
    listen: [{ kind: 'stdio' }],
    authenticate: undefined,
    tls: undefined,
    insecure: false,
    // Nothing is ever kept: it runs no processes.
    stateDir: '/nonexistent',
    detachedTtlMs: 0,
    receiptTtlMs: 0,
    logQuotaBytes: 0,
    logDiskBytes: 0,
    http: { mode: 'deny', allow: [] },
    fileHelper: undefined,
    version: VERSION,
    warn: (message) => printError(`waldo file-helper: ${message}`),
  })
  await server.stdioEnded
  await server.stop(0)
  return 0
}
