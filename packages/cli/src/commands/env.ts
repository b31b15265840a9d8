import { resolve } from 'node:path'
import { protectsToken, TOKEN_UNPROTECTED } from '@waldo/environment'
import { checkEnvironments } from '../env/check-environments.ts'
import { addEnvironment, removeEnvironment } from '../env/edit-environments.ts'
import { changeEnvironments, environmentsPath } from '../env/environments-file.ts'
import { listEnvironments } from '../env/list-environments.ts'
import { explain } from '../explain.ts'
import { parseCommand } from '../parse-command.ts'
import { print, printError } from '../print.ts'
import { parseDuration } from '../quantity.ts'
import { UsageError } from '../usage-error.ts'

const MAX_TIMEOUT_MS = 600_000

const HELP = `List, check and configure environments: the places where commands can run

Usage: waldo env list [--json]
       waldo env check [ID or URL...] [--timeout DURATION] [--json]
       waldo env add ID URL [--token-file FILE] [--cwd DIR] [--default]
       waldo env add ID [--cwd DIR] [--default] -- PROGRAM [ARGUMENT...]
       waldo env remove ID

  waldo env add devbox wss://devbox.example:4321 --token-file ~/.devbox-token --cwd /srv/app
  waldo env add ssh --default -- ssh devbox waldo serve --listen stdio
  waldo env check devbox

list     Shows what there is; * is the default. Connects to nobody.
check    Connects to those named, or to all, and shows what it found; exits with 1 if one fails.
add      Makes one known. PROGRAM is started here and speaks on its standard input and output.
remove   Forgets one.

Options:
  --token-file FILE       A file that holds the token the executor wants
  --cwd DIR               Where commands start there; with PROGRAM: where that is started, here
  --default               Use it when nobody says otherwise
  --timeout DURATION      How long to wait for an answer (default 10s)
  --json                  For programs
  -h, --help              Show this help

They are kept in environments.toml, in $WALDO_HOME, $XDG_CONFIG_HOME/waldo or ~/.config/waldo. If there
is no such file, WALDO_EXEC_SERVER_URL (or CODEX_EXEC_SERVER_URL) names one, \`remote\`.
\`local\` is this machine.`

const HINT = 'waldo env --help shows how'

export async function envCommand([action, ...args]: string[]): Promise<number> {
  try {
    return await dispatch(action, args)
  } catch (error) {
    throw explain(error)
  }
}

async function dispatch(action: string | undefined, args: string[]): Promise<number> {
  // What follows `--` is not for us.
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
  if ([action, ...own].some((arg) => arg === '--help' || arg === '-h')) {
    print(HELP)
    return 0
  }
  switch (action) {
    case 'list':
      return list(args)
    case 'check':
      return check(args)
    case 'add':
      return add(args)
    case 'remove':
      return remove(args)
    case undefined:
      printError(HELP)
      return 2
    default:
      throw new UsageError(`unknown command \`env ${action}\`; expected list, check, add or remove`, HINT)
  }
}

async function list(args: string[]): Promise<number> {
  const { flags, operands, rest } = parseCommand(args, { flags: { json: 'switch' }, help: HINT })
  takeOperands('list', operands, rest, [])
  return listEnvironments(flags.json ?? false)
}

async function check(args: string[]): Promise<number> {
  const { flags, operands, rest = [] } = parseCommand(args, { flags: { json: 'switch', timeout: 'text' }, help: HINT })
  const timeoutMs = Math.min(parseDuration('--timeout', flags.timeout ?? '10s', MAX_TIMEOUT_MS), MAX_TIMEOUT_MS)
  return checkEnvironments([...operands, ...rest], { json: flags.json ?? false, timeoutMs })
}

async function add(args: string[]): Promise<number> {
  const table = { 'token-file': 'text', cwd: 'text', default: 'switch' } as const
  const { flags, operands, rest } = parseCommand(args, { flags: table, help: HINT })
  const [id, url] = takeOperands('add', operands, undefined, rest ? ['ID'] : ['ID', 'URL'])
  if (rest?.length === 0) throw new UsageError('there is no program after `--`', HINT)
  // A relative path is meant from here, not from wherever it will be used.
  const program = rest?.map((word, index) => (index === 0 && word.includes('/') ? resolve(word) : word))
  const tokenFile = flags['token-file'] === undefined ? undefined : resolve(flags['token-file'])
  if (program && tokenFile !== undefined) throw new UsageError('--token-file is for a URL, not for a program', HINT)
  if (url !== undefined && tokenFile !== undefined && !protectsToken(url)) {
    throw new UsageError(`${url} ${TOKEN_UNPROTECTED}`, HINT)
  }
  const cwd = program && flags.cwd !== undefined ? resolve(flags.cwd) : flags.cwd
  const isDefault = flags.default ?? false
  await changeEnvironments((file) => addEnvironment(file, { id: id!, url, tokenFile, program, cwd }, isDefault))
  print(`added \`${id}\` to ${environmentsPath()}; try: waldo env check ${id}`)
  const variable = ['WALDO_EXEC_SERVER_URL', 'CODEX_EXEC_SERVER_URL'].find((name) => process.env[name]?.trim())
  if (variable) printError(`waldo: ${variable} is set, but does not count beside that file`)
  return 0
}

async function remove(args: string[]): Promise<number> {
  const { operands, rest } = parseCommand(args, { flags: {}, help: HINT })
  const [id] = takeOperands('remove', operands, rest, ['ID'])
  let defaultGone = false
  await changeEnvironments((file) => {
    const { text, wasDefault } = removeEnvironment(file, id!)
    defaultGone = wasDefault
    return text
  })
  print(`removed \`${id}\`${defaultGone ? '; it was the default' : ''}`)
  return 0
}

function takeOperands(action: string, given: string[], rest: string[] | undefined, names: string[]): string[] {
  const all = [...given, ...(rest ?? [])]
  if (all.length === names.length) return all
  const stray = all[names.length]
  if (stray !== undefined) throw new UsageError(`env ${action}: unexpected argument \`${stray}\``, HINT)
  throw new UsageError(`env ${action}: ${names[all.length]} is missing`, HINT)
}
