import { writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type ListenAddress,
  ListenAddressError,
  MAX_TTL_MS,
  parseListenAddress,
  ServeError,
  serve,
} from '@waldo/server'
import { readAuthentication, readTls } from '../credentials.ts'
import { parseDuration, parseSize } from '../quantity.ts'
import { UsageError } from '../usage-error.ts'
import { VERSION } from '../version.ts'

const DEFAULT_LISTEN = 'ws://127.0.0.1:0'
/** Between asking processes to end and ending them. */
const GRACE_MS = 3000

const HELP = `Run commands for clients on this machine

Usage: waldo serve [options]

Prints the address it can be reached at, and nothing else, on standard output.

Where to listen:
  --listen URL               ws://IP:PORT, unix:///path or stdio; may be given several times
                             (default ${DEFAULT_LISTEN}: this machine only, on any free port)
  --tls-cert FILE            Serve wss:// instead of ws://, with this certificate (PEM)…
  --tls-key FILE             …and its key
  --insecure                 Allow an address that other machines can reach without authentication

Who may connect:
  --ws-auth MODE             capability-token or signed-bearer-token
  --ws-token-file FILE       capability-token: the file that holds the token
  --ws-token-sha256 HEX      capability-token: its SHA-256, instead of a file
  --ws-shared-secret-file FILE
                             signed-bearer-token: the secret that JWTs are signed with (HS256)
  --ws-issuer TEXT           signed-bearer-token: the issuer they must name
  --ws-audience TEXT         signed-bearer-token: the audience they must name
  --ws-max-clock-skew-seconds N
                             signed-bearer-token: tolerated difference of clocks (default 30)

What to keep:
  --detached-ttl DURATION    How long a session outlives its connection: 30s, 12h, forever (default 1h)
  --receipt-ttl DURATION     How long the output of an ended process stays readable (default 1h)
  --log-quota SIZE           Output kept of each process (default 256MiB)
  --log-disk SIZE            Output kept on disk of all processes together (default 4GiB)
  --state-dir DIR            Where output goes that does not fit in memory
                             (default $XDG_STATE_HOME/waldo or ~/.local/state/waldo)

Other:
  --concurrent-requests N    Accepted for compatibility; requests always run concurrently
  -h, --help                 Show this help
`

const OPTIONS = {
  listen: { type: 'string', multiple: true },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  insecure: { type: 'boolean' },
  'ws-auth': { type: 'string' },
  'ws-token-file': { type: 'string' },
  'ws-token-sha256': { type: 'string' },
  'ws-shared-secret-file': { type: 'string' },
  'ws-issuer': { type: 'string' },
  'ws-audience': { type: 'string' },
  'ws-max-clock-skew-seconds': { type: 'string' },
  'detached-ttl': { type: 'string', default: '1h' },
  'receipt-ttl': { type: 'string', default: '1h' },
  'log-quota': { type: 'string', default: '256MiB' },
  'log-disk': { type: 'string', default: '4GiB' },
  'state-dir': { type: 'string' },
  'concurrent-requests': { type: 'string', default: '1' },
  help: { type: 'boolean', short: 'h' },
} as const

export async function serveCommand(args: string[]): Promise<number> {
  const flags = parseFlags(args)
  if (flags.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (!/^[1-9]\d{0,8}$/.test(flags['concurrent-requests'])) {
    throw new UsageError(`--concurrent-requests ${flags['concurrent-requests']}: expected a number from 1`)
  }
  const tls = readTls(flags)
  const listen = parseListen(flags.listen ?? [DEFAULT_LISTEN], tls !== undefined)
  const onlyStdio = listen.every(({ kind }) => kind === 'stdio')
  const stdio = listen.some(({ kind }) => kind === 'stdio')
  const options = {
    listen,
    authenticate: readAuthentication(flags, onlyStdio),
    tls,
    insecure: flags.insecure ?? false,
    stateDir: stateDir(flags['state-dir']),
    detachedTtlMs: parseDuration('--detached-ttl', flags['detached-ttl'], MAX_TTL_MS),
    receiptTtlMs: parseDuration('--receipt-ttl', flags['receipt-ttl'], MAX_TTL_MS),
    logQuotaBytes: parseSize('--log-quota', flags['log-quota'], 1024 ** 2),
    logDiskBytes: parseSize('--log-disk', flags['log-disk'], 1024 ** 2),
    version: VERSION,
    warn: (message: string) => void process.stderr.write(`waldo: ${message}\n`),
  }
  // Before anything can be started that would have to be ended.
  const stopped = nextSignal()
  const server = await serve(options).catch((error) => {
    throw error instanceof ServeError ? new UsageError(error.message) : error
  })
  // With a client on stdio standard output is for messages only.
  for (const url of server.urls) writeSync(stdio ? 2 : 1, `${url}\n`)
  const why = await Promise.race([stopped, onlyStdio ? server.stdioEnded.then(() => 'end of input') : stopped])
  if (why === 'end of input') {
    await server.stop(0)
    return 0
  }
  void nextSignal().then((signal) => process.exit(signal === 'SIGINT' ? 130 : 143))
  await server.stop(GRACE_MS)
  return 0
}

function parseFlags(args: string[]) {
  try {
    return parseArgs({ args, options: OPTIONS, allowPositionals: false }).values
  } catch (error) {
    throw new UsageError((error as Error).message, 'waldo serve --help lists the options')
  }
}

function parseListen(urls: readonly string[], tls: boolean): ListenAddress[] {
  const addresses = urls.map((url) => {
    try {
      return parseListenAddress(url)
    } catch (error) {
      if (!(error instanceof ListenAddressError)) throw error
      throw new UsageError(error.message, 'IP is an address such as 127.0.0.1 or [::1]; unix:///path works too')
    }
  })
  for (const address of addresses) {
    if (address.kind !== 'tcp' || !address.secure || tls) continue
    throw new UsageError(
      `unsupported --listen URL \`${address.url}\`; expected \`ws://IP:PORT\` or \`stdio\``,
      'wss:// needs --tls-cert and --tls-key',
    )
  }
  if (addresses.filter(({ kind }) => kind === 'stdio').length > 1) throw new UsageError('--listen stdio: only once')
  return addresses
}

function stateDir(flag: string | undefined): string {
  if (flag !== undefined) return resolve(flag)
  const { XDG_STATE_HOME } = process.env
  return XDG_STATE_HOME?.startsWith('/') ? join(XDG_STATE_HOME, 'waldo') : join(homedir(), '.local/state/waldo')
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}
