import { sandboxProfiles } from '@waldo/environment'
import { applyPatchText, diffText, PatchError, parsePatch, verifyPatch } from '@waldo/exec'
import type { PathUri, SandboxRequest } from '@waldo/protocol'
import { readPatchInput } from '../apply-patch/patch-input.ts'
import { terminalText } from '../apply-patch/terminal-text.ts'
import { Environments } from '../environments.ts'
import { explain } from '../explain.ts'
import type { LeaveError } from '../leave-error.ts'
import { leaveOnSignals } from '../leave-on-signals.ts'
import { parseCommand } from '../parse-command.ts'
import { print, printError } from '../print.ts'
import { UsageError } from '../usage-error.ts'

const HELP = `Change files by a patch: all of them, or none

Usage: waldo apply-patch [options] [PATCH]

  waldo apply-patch < fix.patch
  waldo apply-patch --dry-run < fix.patch        show what it would change
  waldo apply-patch -e devbox --cwd /srv/app '*** Begin Patch
  *** Update File: src/main.ts
  @@ function main() {
  -  return 1
  +  return 0
  *** End Patch'

PATCH is one argument; without it, the patch is read from standard input. It is written as models
write them (docs/apply-patch.md has the grammar):

  *** Begin Patch                     the first line
  *** Add File: PATH                  then its lines, each with + in front
  *** Delete File: PATH
  *** Update File: PATH               then perhaps *** Move to: PATH, then hunks:
  @@ LINE OF THE FILE TO GO TO        or @@ alone
   a line that stays                  " ", "-" or "+" is in front of each
  *** End Patch                       the last line

Options:
  -e, --env ENV        The environment to do it in: an id that \`waldo env list\` shows, or a URL
  --cwd DIR            What paths are relative to; by default, where commands start there
  --sandbox MODE       Change nothing but what is below that directory, and temporary files (workspace),
                       or nothing at all (read-only, which is for --dry-run)
  --dry-run            Print the difference and change nothing
  -h, --help           Show this help

Exit code: 0 if it was applied, and fits with --dry-run; 1 if it was not, and then nothing has
changed, or the message says what has; 2 for wrong options, no patch, or one that is no UTF-8.`

const SYNTAX = {
  flags: { env: 'text', cwd: 'text', sandbox: 'text', 'dry-run': 'switch', help: 'switch' },
  letters: { e: 'env' },
  help: 'waldo apply-patch --help lists the options',
} as const
type SandboxMode = 'read-only' | 'workspace' | undefined

interface Request {
  readonly patch: string
  readonly environment: string | undefined
  readonly cwd: string
  readonly sandbox: SandboxMode
  readonly isDryRun: boolean
}

export async function applyPatchCommand(args: string[]): Promise<number> {
  let request: Request | number
  try {
    request = await requested(args)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return failed(error, 2)
  }
  if (typeof request === 'number') return request
  const stop = leaveOnSignals()
  try {
    const text = await apply(request, stop)
    // Whoever reads it from a pipe wants it as it is.
    print((process.stdout.isTTY ? terminalText(text) : text).replace(/\n$/, ''))
    return 0
  } catch (error) {
    if (stop.aborted && error === stop.reason) return (error as LeaveError).exitCode
    return failed(PatchError.is(error) ? new UsageError(error.message) : explain(error), 1)
  }
}

/** What was asked for; a number: nothing more is to be done. */
async function requested(args: string[]): Promise<Request | number> {
  const { flags, operands, rest = [] } = parseCommand(args, SYNTAX)
  if (flags.help) {
    print(HELP)
    return 0
  }
  const [given, stray] = [...operands, ...rest]
  if (stray !== undefined) {
    throw new UsageError('apply-patch: the patch is one argument, and there are more; quote it', SYNTAX.help)
  }
  const { sandbox, env: environment, cwd = '.' } = flags
  if (sandbox !== undefined && sandbox !== 'read-only' && sandbox !== 'workspace') {
    throw new UsageError(`--sandbox ${sandbox}: expected read-only or workspace`, SYNTAX.help)
  }
  const patch = given ?? (await readPatchInput())
  if (patch.trim() !== '') return { patch, environment, cwd, sandbox, isDryRun: flags['dry-run'] ?? false }
  throw new UsageError('there is no patch: give it as an argument, or on standard input', SYNTAX.help)
}

async function apply({ patch, environment, cwd, sandbox: mode, isDryRun }: Request, signal: AbortSignal) {
  const parsed = parsePatch(patch)
  const { environmentId } = parsed
  // Where something is changed is for whoever types the command to say.
  if (environmentId !== undefined && environmentId !== environment) {
    throw new UsageError(
      `the patch is for the environment \`${environmentId}\``,
      `If it is to be changed there: waldo apply-patch --env ${environmentId}`,
    )
  }
  await using environments = await Environments.open()
  const chosen = environments.choose(environment)
  const directory = await chosen.path(cwd)
  const { files } = chosen.environment
  const options = {
    files,
    cwd: directory,
    sandbox: sandboxOf(mode, directory),
    requireDirectory: true,
    signal,
  } as const
  return isDryRun ? diffText((await verifyPatch(parsed, options)).changes) : await applyPatchText(parsed, options)
}

function sandboxOf(mode: SandboxMode, directory: PathUri): SandboxRequest | undefined {
  switch (mode) {
    case undefined:
      return undefined
    case 'read-only':
      return sandboxProfiles.readOnly()
    case 'workspace':
      return sandboxProfiles.workspaceWrite({ roots: [directory] })
  }
}

function failed({ message, hint }: UsageError, exitCode: number): number {
  printError(terminalText(`Error: ${message}${hint === '' ? '' : `\n${hint}`}`))
  return exitCode
}
