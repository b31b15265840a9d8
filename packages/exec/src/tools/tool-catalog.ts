import { offeredTools, type ReadyEnvironment } from '@waldo/environment'
import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import type { Turn } from '../conversation/turn.ts'
import { applyPatchDescription, applyPatchFunction, patchGrammar } from '../patch/grammar.ts'
import { applyPatch, patchInterceptor } from '../patch-tool/apply-patch.ts'
import { type RequestPermissionsArguments, requestPermissions } from '../permissions/request-permissions.ts'
import { type ExecCommandArguments, execCommand } from '../unified-exec/exec-command.ts'
import { type KillSessionArguments, killSession } from '../unified-exec/kill-session.ts'
import { listSessions } from '../unified-exec/list-sessions.ts'
import { type ReadOutputArguments, readOutput } from '../unified-exec/read-output.ts'
import { type WriteStdinArguments, writeStdin } from '../unified-exec/write-stdin.ts'
import {
  execCommandSchema,
  KILL_SESSION_SCHEMA,
  LIST_SESSIONS_SCHEMA,
  READ_OUTPUT_SCHEMA,
  requestPermissionsSchema,
  type ToolSituation,
  writeStdinSchema,
} from './exec-tools.ts'
import { mismatch, type ObjectSchema } from './json-schema.ts'
import type { ToolDefinition } from './tool-definition.ts'

interface FunctionTool {
  readonly description: string
  readonly schema: (situation: ToolSituation) => ObjectSchema
  /** `commands`: where commands can be run. `sessions`: where there is one to talk about, too. */
  readonly needs: 'commands' | 'sessions'
  readonly call: (args: never, call: ToolCall, services: Services) => ToolAnswer | Promise<ToolAnswer>
}

const FUNCTIONS: Readonly<Record<string, FunctionTool>> = {
  exec_command: {
    description:
      'Runs a command, returning its output, or a session ID for ongoing interaction if it has not ended in time. What ' +
      'is to run on needs no `&`: it runs on by itself, and what a script leaves behind may be ended with it.',
    schema: execCommandSchema,
    needs: 'commands',
    call: (args: ExecCommandArguments, call, services) => execCommand(args, call, services, patchInterceptor(services)),
  },
  write_stdin: {
    description: 'Writes characters to an existing session, or only looks at it, and returns recent output.',
    schema: writeStdinSchema,
    needs: 'sessions',
    call: (args: WriteStdinArguments, call, services) => writeStdin(args, call, services),
  },
  read_output: {
    description: 'Reads what a session has printed so far, also after it has ended: by offset, by lines or by pattern.',
    schema: () => READ_OUTPUT_SCHEMA,
    needs: 'sessions',
    call: (args: ReadOutputArguments, call, services) => readOutput(args, call, services),
  },
  list_sessions: {
    description: 'Lists the sessions that are open.',
    schema: () => LIST_SESSIONS_SCHEMA,
    needs: 'sessions',
    call: (_args: unknown, _call, services) => listSessions(services),
  },
  kill_session: {
    description: 'Ends a session with every process in it.',
    schema: () => KILL_SESSION_SCHEMA,
    needs: 'sessions',
    call: (args: KillSessionArguments, call, services) => killSession(args, call, services),
  },
  request_permissions: {
    description: 'Asks the user for permissions that several later commands need.',
    schema: requestPermissionsSchema,
    needs: 'commands',
    call: (args: RequestPermissionsArguments, call, services) => requestPermissions(args, call, services),
  },
}

export interface ToolOptions {
  /** Whether the model can write text by a grammar. Otherwise every tool is a function. It can if nothing is said. */
  readonly grammars?: boolean | undefined
}

/** What one call may be, as text. */
const MAX_ARGUMENTS = 16 * 1024 * 1024

/** What a model may be offered in this turn. */
export function toolDefinitions(
  turn: Turn,
  services: Services,
  { grammars = true }: ToolOptions = {},
): readonly ToolDefinition[] {
  const situation = situationOf(turn)
  const definitions: ToolDefinition[] = Object.entries(FUNCTIONS)
    .filter(([, tool]) => isOffered(tool, turn, services))
    .map(([name, { description, schema }]) => {
      return { type: 'function', name, description, strict: false, parameters: schema(situation) }
    })
  const patchable = turn.environments.ready.filter(({ capabilities }) => capabilities.files)
  return patchable.length === 0 ? definitions : [...definitions, patchTool(patchable, grammars)]
}

function patchTool(patchable: readonly ReadyEnvironment[], grammars: boolean): ToolDefinition {
  const ids = patchable.map(({ environmentId }) => environmentId)
  if (!grammars) return applyPatchFunction(ids)
  const format = { type: 'grammar', syntax: 'lark', definition: patchGrammar(ids) } as const
  return { type: 'custom', name: 'apply_patch', description: applyPatchDescription(ids), format }
}

/** Throws an `InvalidCall` for what cannot be answered, whether it was offered or not. */
export async function callTool(tool: string, args: unknown, call: ToolCall, services: Services): Promise<ToolAnswer> {
  if (tool === 'apply_patch') return await applyPatch(args, call, services)
  const own = Object.hasOwn(FUNCTIONS, tool) ? FUNCTIONS[tool] : undefined
  if (!own) throw new InvalidCall(`unsupported call: ${tool.slice(0, 100)}`)
  if (!isOffered(own, call.turn, services)) throw new InvalidCall('unified exec is unavailable in this session')
  const given = parsed(args)
  // Which environments there are is checked where one is chosen: an unknown one has an error of its own.
  const problem = mismatch(own.schema({ ...situationOf(call.turn), environmentIds: [] }), withoutEnvironment(given))
  if (problem !== undefined) throw new InvalidCall(`failed to parse function arguments: ${problem}`)
  return await own.call(given as never, call, services)
}

function isOffered({ needs }: FunctionTool, { environments }: Turn, { store }: Services): boolean {
  // A process can be talked to until it has ended, wherever the turn works.
  return offeredTools(environments, { processAlive: needs === 'sessions' && store.openCount > 0 }).includes(
    needs === 'sessions' ? 'write_stdin' : 'exec_command',
  )
}

function situationOf({ environments, settings }: Turn): ToolSituation {
  const capable = environments.ready.filter(({ capabilities }) => capabilities.exec)
  return {
    environmentIds: capable.map(({ environmentId }) => environmentId),
    allowsLoginShell: settings.allowLoginShell,
    maxPollMs: settings.maxPollMs,
  }
}

/** Models write JSON as text. What is null was left out. */
function parsed(args: unknown): unknown {
  if (typeof args === 'string' && args.length > MAX_ARGUMENTS) {
    throw new InvalidCall(`failed to parse function arguments: ${args.length} characters are too many`)
  }
  return withoutNulls(typeof args === 'string' ? parsedJson(args) : (args ?? {}))
}

/** No schema of ours is nested deeper: what is, fits none, with or without nulls. */
function withoutNulls(value: unknown, depth = 8): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return value
  const members = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member, depth - 1)]))
}

function parsedJson(text: string): unknown {
  try {
    return text.trim() === '' ? {} : JSON.parse(text)
  } catch (cause) {
    throw new InvalidCall(`failed to parse function arguments: ${(cause as Error).message}`, { cause })
  }
}

function withoutEnvironment(args: unknown): unknown {
  if (typeof args !== 'object' || args === null || !('environment_id' in args)) return args
  const { environment_id: id, ...others } = args
  if (typeof id !== 'string')
    throw new InvalidCall('failed to parse function arguments: environment_id: expected a string')
  return others
}
