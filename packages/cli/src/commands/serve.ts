import { join, resolve } from 'node:path'
import {
  type ListenAddress,
  ListenAddressError,
  ListenError,
  MAX_TTL_MS,
  parseListenAddress,
  serve,
} from '@waldo/server'
import { type Flags, parseFlags } from '../flags.ts'
import { ownCommand } from '../own-command.ts'
import { print, printError } from '../print.ts'
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

What http/request may reach:
  --http MODE                allow (default): everything but this machine, link-local and cloud
                             metadata addresses; a server that only this machine can reach may also
                             talk to this machine. deny: nothing
  --http-allow HOST[:PORT]   An exception: a name, *.name, an address or address/bits; may be given
                             several times

What to keep:
  --detached-ttl DURATION    How long a session outlives its connection: 30s, 12h, forever (default 1h)
  --receipt-ttl DURATION     How long the output of an ended process stays readable (default 1h)
  --log-quota SIZE           Output kept of each process (default 256MiB)
  --log-disk SIZE            Output kept on disk of all processes together (default 1GiB)
  --state-dir DIR            Where output goes that does not fit in memory
                             (default $XDG_STATE_HOME/waldo or ~/.local/state/waldo)

Other:
  --concurrent-requests N    Accepted for compatibility; requests always run concurrently
  -h, --help                 Show this help`

const FLAGS = {
  listen: 'texts',
  'tls-cert': 'text',
  'tls-key': 'text',
  insecure: 'switch',
  'ws-auth': 'text',
  'ws-token-file': 'text',
  'ws-token-sha256': 'text',
  'ws-shared-secret-file': 'text',
  'ws-issuer': 'text',
  'ws-audience': 'text',
  'ws-max-clock-skew-seconds': 'text',
  http: 'text',
  'http-allow': 'texts',
  'detached-ttl': 'text',
  'receipt-ttl': 'text',
  'log-quota': 'text',
  'log-disk': 'text',
  'state-dir': 'text',
  'concurrent-requests': 'text',
  help: 'switch',
} as const

export async function serveCommand(args: string[]): Promise<number> {
  const flags = parseFlags(args, FLAGS, 'waldo serve --help lists the options')
  if (flags.help) {
    print(HELP)
    return 0
  }
  if (!/^[1-9]\d{0,8}$/.test(flags['concurrent-requests'] ?? '1')) {
    throw new UsageError(`--concurrent-requests ${flags['concurrent-requests']}: expected a number from 1`)
  }
  const { authenticate, tls } = await readCredentials(flags)
  const listen = parseListen(flags.listen ?? [DEFAULT_LISTEN], tls !== undefined)
  const onlyStdio = listen.every(({ kind }) => kind === 'stdio')
  if (authenticate && onlyStdio) throw new UsageError('WebSocket auth requires a WebSocket listener, not stdio')
  const stdio = listen.some(({ kind }) => kind === 'stdio')
  const options = {
    listen,
    authenticate,
    tls,
    insecure: flags.insecure ?? false,
    secretFiles: secretFiles(flags),
    stateDir: stateDir(flags['state-dir']),
    detachedTtlMs: parseDuration('--detached-ttl', flags['detached-ttl'] ?? '1h', MAX_TTL_MS),
    receiptTtlMs: parseDuration('--receipt-ttl', flags['receipt-ttl'] ?? '1h', MAX_TTL_MS),
    logQuotaBytes: parseSize('--log-quota', flags['log-quota'] ?? '256MiB', 1024 ** 2),
    logDiskBytes: parseSize('--log-disk', flags['log-disk'] ?? '1GiB', 1024 ** 2),
    http: { mode: parseHttpMode(flags.http ?? 'allow'), allow: flags['http-allow'] ?? [] },
    program: ownCommand(),
    version: VERSION,
    warn: (message: string) => printError(`waldo: ${message}`),
  }
  // Before anything can be started that would have to be ended.
  const stopped = nextSignal()
  const server = await serve(options).catch((error) => {
    throw error instanceof ListenError ? new UsageError(error.message) : error
  })
  // Whatever goes wrong with one call that nobody has thought of: the commands of all others go on.
  const survive = (error: unknown) => printError(`waldo: a defect, please report it: ${Bun.inspect(error)}`)
  process.on('unhandledRejection', survive).on('uncaughtException', survive)
  // With a client on stdio standard output is for messages only.
  const announce = stdio ? printError : print
  for (const url of server.urls) announce(url)
  const why = await Promise.race([stopped, onlyStdio ? server.stdioEnded.then(() => 'end of input') : stopped])
  if (why === 'end of input') {
    await server.stop(0)
    return 0
  }
  void nextSignal().then((signal) => process.exit(signal === 'SIGINT' ? 130 : 143))
  await server.stop(GRACE_MS)
  return 0
}

/** What reads files is loaded for those who have some. */
async function readCredentials(flags: Flags<typeof FLAGS>) {
  if (!Object.keys(flags).some((name) => /^(ws|tls)-/.test(name))) return { authenticate: undefined, tls: undefined }
  const { readAuthentication, readTls } = await import('../credentials.ts')
  return { authenticate: readAuthentication(flags), tls: readTls(flags) }
}

/** What nobody who was let in, and then into a sandbox, has to read. */
function secretFiles(flags: Flags<typeof FLAGS>): string[] {
  const files = [flags['ws-token-file'], flags['ws-shared-secret-file'], flags['tls-key']]
  return files.flatMap((file) => (file === undefined ? [] : [resolve(file)]))
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

function parseHttpMode(text: string): 'allow' | 'deny' {
  if (text === 'allow' || text === 'deny') return text
  throw new UsageError(`--http ${text}: expected allow or deny`)
}

function stateDir(flag: string | undefined): string {
  if (flag !== undefined) return resolve(flag)
  const { XDG_STATE_HOME, HOME } = process.env
  if (XDG_STATE_HOME?.startsWith('/')) return join(XDG_STATE_HOME, 'waldo')
  if (HOME?.startsWith('/')) return join(HOME, '.local/state/waldo')
  throw new UsageError('there is no HOME to keep state in', 'name a directory with --state-dir')
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
}
