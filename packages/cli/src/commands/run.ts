import { ExecError } from '@waldo/environment'
import { Environments } from '../environments.ts'
import { explain } from '../explain.ts'
import { parseCommand } from '../parse-command.ts'
import { print, printError } from '../print.ts'
import { parseDuration } from '../quantity.ts'
import { requestedSandbox } from '../run/requested-sandbox.ts'
import { runProcess } from '../run/run-process.ts'
import { UsageError } from '../usage-error.ts'

/** Codes that are not the command's own. */
const WALDO_FAILED = 125
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127
/** What a timer can wait. */
const MAX_TIMEOUT_MS = 2_147_483_647

const HELP = `Run a command in an environment, as if it ran here

Usage: waldo run [options] [--] COMMAND [ARGUMENT...]

  waldo run -- make test                        in the default environment
  waldo run -e devbox -t -- bash                a shell
  tar c src | waldo run -e devbox -- tar x -C /tmp
  waldo run -e ws://127.0.0.1:4321 -- uname -a  no configuration needed
  waldo run --sandbox workspace -- npm test     changes nothing but what is here

Options:
  -e, --environment ENV    An id that \`waldo env list\` shows, or a URL: ws://HOST:PORT, unix:///path
  -t, --tty                On a terminal: for shells, editors and whatever asks questions
  --cwd DIR                Where to start it; relative to where commands start there, or below ~
  --env NAME=VALUE         A variable for it; may be given several times
  --timeout DURATION       End it after 30s, 5m, 2h…
  --sandbox MODE           Keep it from changing anything (read-only), or anything but what is below
                           the directory it starts in, and temporary files (workspace)
  --network                In a sandbox: let it use the network, which it otherwise cannot
  --allow DOMAIN           In a sandbox: let it reach this domain and no other; may be given several
                           times; *.example.com allows everything below
  --json                   Print what happens, an object a line: output (data in base64), exited, closed
  -h, --help               Show this help

Output, Ctrl-C, SIGTERM and SIGHUP are passed on, and input that comes from a file or a pipe; what
is typed is passed on with -t only. A second Ctrl-C within two seconds ends the command. What it has
left running ends with it. If the connection is cut the command runs on, and we come back to it for
as long as the executor keeps it.

Exit code: the command's own, 128+N if signal N ended it, and
  124  its time was up
  125  waldo failed: no connection, a wrong option, a command that was lost
  126  it cannot be executed
  127  there is no such command`

const SYNTAX = {
  flags: {
    environment: 'text',
    tty: 'switch',
    cwd: 'text',
    env: 'texts',
    timeout: 'text',
    sandbox: 'text',
    network: 'switch',
    allow: 'texts',
    json: 'switch',
    help: 'switch',
  },
  letters: { e: 'environment', t: 'tty' },
  commandFollows: true,
  help: 'waldo run --help lists the options',
} as const

export async function runCommand(args: string[]): Promise<number> {
  try {
    return await run(args)
  } catch (error) {
    const { message, hint } = explain(error)
    printError(`Error: ${message}${hint === '' ? '' : `\n${hint}`}`)
    return exitCodeFor(error)
  }
}

async function run(args: string[]): Promise<number> {
  const { flags, rest: argv = [] } = parseCommand(args, SYNTAX)
  if (flags.help) {
    print(HELP)
    return 0
  }
  if (argv.length === 0) throw new UsageError('no command to run', 'for example: waldo run -- uname -a')
  if (flags.json && flags.tty) throw new UsageError('--json and --tty exclude each other', SYNTAX.help)
  const timeout = flags.timeout === undefined ? undefined : parseDuration('--timeout', flags.timeout, MAX_TIMEOUT_MS)
  const env = variables(flags.env ?? [])
  const sandbox = requestedSandbox(flags)
  await using environments = await Environments.open()
  const chosen = environments.choose(flags.environment)
  const cwd = flags.cwd === undefined ? undefined : await chosen.path(flags.cwd)
  return await runProcess(chosen.environment, {
    argv,
    cwd,
    env,
    ...(await sandbox?.(chosen.environment, cwd)),
    tty: flags.tty ?? false,
    timeoutMs: timeout === Number.POSITIVE_INFINITY ? undefined : timeout,
    json: flags.json ?? false,
  })
}

function variables(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
      if (name === undefined) throw new UsageError(`--env ${text}: expected NAME=VALUE`, SYNTAX.help)
      return [name, value!]
    }),
  )
}

/** As a shell says it. That the directory is missing is not the program's fault. */
function exitCodeFor(error: unknown): number {
  if (!ExecError.is(error, 'SPAWN_FAILED') || error.message.includes('working directory')) return WALDO_FAILED
  return /\(os error 2\)/.test(error.message) ? NOT_FOUND : NOT_EXECUTABLE
}
