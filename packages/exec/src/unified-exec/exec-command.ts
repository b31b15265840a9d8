import { ExecError, type ReadyEnvironment, requireTool } from '@waldo/environment'
import { DecodeError, joinPath, type PathUri } from '@waldo/protocol'
import { shellQuote } from '../approvals/shell-quote.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import { type Outcome, orchestrate } from '../orchestrator/orchestrate.ts'
import { retryRejected, warning } from '../output/response-notes.ts'
import { callPermissions, InvalidCall, type PermissionArguments } from '../permissions/call-permissions.ts'
import { permissionsOf } from '../permissions/sandbox-requests.ts'
import { type Command, CommandRun, type Observation } from './command-run.ts'
import type { Lifetime } from './exec-session.ts'
import { observedAnswer } from './observed-answer.ts'
import { shellArgv } from './shell-argv.ts'
import { parseUntil, type UntilArgument } from './until.ts'
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

/** Does something else with a command than to run it: a patch that was written as one. */
export type Interceptor = (
  command: { readonly argv: readonly string[]; readonly cwd: PathUri; readonly selected: ReadyEnvironment },
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
  requireTool(environments, 'exec_command', { environmentId: args.environment_id })
  const selected = environments.choose(args.environment_id)!
  const cwd = directory(selected.cwd, args.workdir)
  const until = parseUntil(args.until)
  const wait = yieldTime({
    requestedMs: args.yield_time_ms,
    kind: 'command',
    hasCondition: until !== undefined,
    maxPollMs: settings.maxPollMs,
  })
  const { shell } = await selected.environment.info({ signal: call.signal })
  const { environmentId } = selected
  const argv = shellArgv(args, { environmentId, reported: shell, allowLogin: settings.allowLoginShell })
  const permissions = callPermissions(args, {
    cwd,
    environmentId,
    approvalPolicy: settings.approvalPolicy,
    permissions: permissionsOf(settings.permissions),
    place: selected,
    granted: services.granted,
  })
  const intercepted = await intercept({ argv, cwd, selected }, call)
  if (intercepted) return intercepted
  const { cmd, tty = false, lifetime = 'conversation', prefix_rule: prefixRule, max_output_tokens } = args
  const sessionId = services.ids.reserve()
  try {
    const outcome = await runCommand(
      { sessionId, text: cmd, argv, cwd, tty, lifetime, permissions, prefixRule, yieldMs: wait.ms, until },
      selected,
      call,
      services,
    )
    if (outcome.kind === 'rejected') {
      return { text: `exec_command rejected for \`${shellQuote(argv)}\`: ${outcome.reason}`, success: false }
    }
    const notes = [
      ...(wait.note === undefined ? [] : [wait.note]),
      ...(outcome.retryRejected === undefined ? [] : [retryRejected(outcome.retryRejected)]),
      ...(permissions.requested === 'require_escalated' && outcome.choice.intent === 'bypass-but-denials'
        ? [warning('it ran outside of the sandbox but for what must not be read: no approval lifts that')]
        : []),
    ]
    return observedAnswer(outcome.value, services, { settings, maxOutputTokens: max_output_tokens, notes })
  } catch (error) {
    if (!ExecError.is(error)) throw error
    throw new InvalidCall(`exec_command failed for \`${shellQuote(argv)}\`: ${error.message}`, { cause: error })
  } finally {
    // As long as a process has it, it stays taken.
    if (!services.store.has(sessionId)) services.ids.release(sessionId)
  }
}

async function runCommand(
  command: Command,
  selected: ReadyEnvironment,
  call: ToolCall,
  services: Services,
): Promise<Outcome<Observation>> {
  const { settings } = call.turn
  const outcome = await orchestrate(
    {
      runtime: new CommandRun(command, selected, call, services),
      approvalPolicy: settings.approvalPolicy,
      sandbox: {
        permissions: permissionsOf(settings.permissions),
        place: selected,
        call: command.permissions,
        hasManagedNetwork: settings.network !== undefined,
      },
      signal: call.signal,
    },
    services,
  )
  // Whoever sees it end later can still ask about another attempt.
  if (outcome.kind === 'ran' && outcome.retry && !outcome.value.ended) outcome.value.session.retry = outcome.retry
  return outcome
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
