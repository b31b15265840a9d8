import { ExecError, type ReadyEnvironment, requireTool } from '@waldo/environment'
import { DecodeError, joinPath, type PathUri } from '@waldo/protocol'
import { shellQuote } from '../approvals/shell-quote.ts'
import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import { type Outcome, orchestrate } from '../orchestrator/orchestrate.ts'
import { retryRejected, warning } from '../output/response-notes.ts'
import { truncateMiddle } from '../output/truncate-middle.ts'
import { callPermissions, type PermissionArguments } from '../permissions/call-permissions.ts'
import { findDenied } from '../permissions/denied-paths.ts'
import { type Command, CommandRun } from './command-run.ts'
import type { ExecSession } from './exec-session.ts'
import type { Observation } from './observation.ts'
import { observedAnswer } from './observed-answer.ts'
import { outputBudget } from './output-budget.ts'
import type { Lifetime } from './session-facts.ts'
import { type ShellFamily, shellArgv, shellFamily } from './shell-argv.ts'
import { parseUntil, type UntilArgument, untilNotes } from './until.ts'
import { yieldTime } from './yield-time.ts'

export interface ExecCommandArguments extends PermissionArguments {
  readonly cmd: string
  readonly workdir?: string | undefined
  readonly tty?: boolean | undefined
  readonly yield_time_ms?: number | undefined
  readonly max_output_tokens?: number | undefined
  readonly shell?: string | undefined
  readonly login?: boolean | undefined
  readonly environment_id?: string | undefined
  readonly prefix_rule?: readonly string[] | undefined
  readonly until?: UntilArgument | undefined
  readonly lifetime?: Lifetime | undefined
}

/** What a refusal repeats of a command, and what it says why. */
const MAX_COMMAND_TOKENS = 300
const MAX_REASON_TOKENS = 600

/** Does something else with a command than to run it: a patch that was written as one. */
export type Interceptor = (
  command: {
    readonly cmd: string
    readonly family: ShellFamily
    readonly cwd: PathUri
    readonly selected: ReadyEnvironment
  },
  call: ToolCall,
) => Promise<ToolAnswer | undefined>

/** Runs a command, if it may, and answers with what it said until it ended or the time was over. */
export async function execCommand(
  args: ExecCommandArguments,
  call: ToolCall,
  services: Services,
  intercept: Interceptor,
): Promise<ToolAnswer> {
  const { settings, environments } = call.turn
  const selected = requireTool(environments, 'exec_command', { environmentId: args.environment_id })
  const cwd = directory(selected.cwd, args.workdir)
  const until = parseUntil(args.until)
  const maxOutputTokens = outputBudget(args)
  const wait = yieldTime({
    requestedMs: args.yield_time_ms,
    kind: 'command',
    hasCondition: until !== undefined,
    maxPollMs: settings.maxPollMs,
  })
  const { environment, environmentId } = selected
  const info = await environment.info({ signal: call.signal })
  const argv = shellArgv(args, { environmentId, reported: info.shell, allowLogin: settings.allowLoginShell })
  const profile = call.turn.permissionsIn(selected)
  const denials = { permissions: profile, place: selected, files: environment.files, info, signal: call.signal }
  const permissions = await callPermissions(args, {
    cwd,
    approvalPolicy: settings.approvalPolicy,
    granted: services.granted.of(environmentId, call.turn.id),
    findDenied: (paths) => findDenied(paths, denials),
  })
  const { cmd } = args
  const intercepted = await intercept({ cmd, family: shellFamily(info.shell), cwd, selected }, call)
  if (intercepted) return intercepted
  const { tty = false, lifetime = 'conversation', prefix_rule: prefixRule } = args
  const facts = { info, profile, permissions, prefixRule, yieldMs: wait.ms, until }
  const command = { text: cmd, argv, cwd, tty, lifetime, ...facts }
  const run = new CommandRun(command, selected, call, services)
  try {
    const outcome = await orchestrated(run, command, selected, call, services)
    if (outcome.kind === 'rejected') return { text: failed('rejected', argv, outcome.reason), success: false }
    const notes = [
      ...wait.notes,
      ...untilNotes(until),
      ...run.madeRoom.map(madeRoomNote),
      ...(outcome.retryRejected === undefined ? [] : [retryRejected(outcome.retryRejected)]),
      ...(permissions.requested === 'require_escalated' && outcome.choice.intent === 'bypass-but-denials'
        ? [warning('it ran outside of the sandbox but for what must not be read: no approval lifts that')]
        : []),
    ]
    return observedAnswer(outcome.value, services, { settings, maxOutputTokens, notes })
  } catch (error) {
    if (!ExecError.is(error)) throw error
    throw new InvalidCall(failed('failed', argv, error.message), { cause: error })
  } finally {
    run.releaseUnusedId()
  }
}

async function orchestrated(
  run: CommandRun,
  { profile, permissions }: Command,
  selected: ReadyEnvironment,
  call: ToolCall,
  services: Services,
): Promise<Outcome<Observation>> {
  const { settings } = call.turn
  const outcome = await orchestrate(
    {
      runtime: run,
      approvalPolicy: settings.approvalPolicy,
      sandbox: {
        permissions: profile,
        place: selected,
        call: permissions,
        hasManagedNetwork: settings.network !== undefined,
      },
      signal: call.signal,
    },
    services,
  )
  if (outcome.kind !== 'ran' || !outcome.retry || outcome.value.ended) return outcome
  // Whoever sees it end later can still ask about another attempt.
  const { retry } = outcome
  outcome.value.session.retry = async (denial, signal) => {
    try {
      return await retry(denial, signal)
    } finally {
      run.releaseUnusedId()
    }
  }
  return outcome
}

/** Bounded: a command can be as long as a model likes. */
function failed(how: 'rejected' | 'failed', argv: readonly string[], reason: string): string {
  const command = truncateMiddle(shellQuote(argv), { kind: 'tokens', limit: MAX_COMMAND_TOKENS })
  const why = truncateMiddle(reason, { kind: 'tokens', limit: MAX_REASON_TOKENS })
  // A policy names the command itself.
  if (how === 'rejected' && why.startsWith('`')) return `exec_command: ${why}`
  return `exec_command ${how} for \`${command}\`: ${why}`
}

function madeRoomNote({ facts: { id, command } }: ExecSession): string {
  return warning(
    `session ${id} (${JSON.stringify(command.slice(0, 100))}) had to make room for this one, and was ended`,
  )
}

function directory(base: PathUri, workdir: string | undefined): PathUri {
  if (workdir === undefined || workdir === '') return base
  try {
    return joinPath(base, workdir)
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new InvalidCall(`workdir: ${cause.message}`, { cause })
  }
}
