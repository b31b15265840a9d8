import { ExecError, type ReadyEnvironment, requireTool } from '@waldo/environment'
import { DecodeError, type EnvironmentInfo, joinPath, type PathUri, type Permissions } from '@waldo/protocol'
import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import { orchestrate } from '../orchestrator/orchestrate.ts'
import { confinedChoice } from '../orchestrator/sandbox-choice.ts'
import { formatResponse, structuredResponse } from '../output/exec-response.ts'
import { parsePatch } from '../patch/parse-patch.ts'
import type { Patch } from '../patch/patch.ts'
import { PatchError } from '../patch/patch-error.ts'
import { verifyPatch } from '../patch/verify-patch.ts'
import { stillGranted } from '../permissions/call-permissions.ts'
import { findDenied } from '../permissions/denied-paths.ts'
import { widened } from '../permissions/sandbox-requests.ts'
import type { Interceptor } from '../unified-exec/exec-command.ts'
import { homesOf } from './homes.ts'
import { patchInCommand } from './patch-in-command.ts'
import { PatchRun } from './patch-run.ts'

/** Applies a patch that a model wrote, if it may. The argument is the text, or `{input: text}` from models that need that. */
export async function applyPatch(args: unknown, call: ToolCall, services: Services): Promise<ToolAnswer> {
  const patch = parsed(patchText(args))
  const { environments } = call.turn
  const selected = requireTool(environments, 'apply_patch', { environmentId: patch.environmentId })
  return await apply(patch, selected.cwd, selected, call, services)
}

/** A patch that was written as a command is applied as one. Undefined: it is a command. */
export function patchInterceptor(services: Services): Interceptor {
  return async ({ cmd, family, cwd, selected }, call) => {
    if (!selected.capabilities.files) return undefined
    const found = await invalidIfWrong(() => patchInCommand(cmd, family))
    if (!found) return undefined
    const { now } = services
    const start = now()
    const patch = parsed(found.patch)
    if (patch.environmentId !== undefined && patch.environmentId !== selected.environmentId) {
      throw new InvalidCall(
        `the patch is for the environment \`${patch.environmentId}\`, and the command runs in \`${selected.environmentId}\``,
      )
    }
    const directory = found.cd === undefined ? cwd : directoryIn(cwd, found.cd)
    const { text, success } = await apply(patch, directory, selected, call, services)
    const response = { wallTimeMs: now() - start, output: text, notes: [] }
    return { text: formatResponse(response), success, structured: structuredResponse(response) }
  }
}

async function apply(
  patch: Patch,
  cwd: PathUri,
  selected: ReadyEnvironment,
  call: ToolCall,
  services: Services,
): Promise<ToolAnswer> {
  const { settings } = call.turn
  const { environment } = selected
  const info = await environment.info({ signal: call.signal })
  const permissions = await grantedPermissions(selected, info, call, services)
  const situation = { permissions, place: selected, hasManagedNetwork: false }
  const nothingMore = { requested: 'use_default', isPreApproved: true } as const
  // What a patch is made of is read as a command would read it.
  const { request: sandbox } = confinedChoice({ ...situation, call: nothingMore })
  const { temporaryDirectories } = info
  // Where the model wants to work is none of them: that may be a link, under a name that looks harmless.
  const homes = homesOf(permissions, { ...selected, temporaryDirectories })
  const verified = await invalidIfWrong(() =>
    verifyPatch(patch, { files: environment.files, cwd, homes, sandbox, requireDirectory: true, signal: call.signal }),
  )
  const runtime = new PatchRun(verified, { call, selected, permissions, info, services })
  const outcome = await orchestrate(
    {
      runtime,
      approvalPolicy: settings.approvalPolicy,
      sandbox: { ...situation, call: runtime.permissions },
      signal: call.signal,
    },
    services,
  )
  if (outcome.kind === 'rejected') {
    const { reason } = outcome
    return { text: reason === 'rejected by user' ? 'patch rejected by user' : reason, success: false }
  }
  const { success, text } = outcome.value
  return { text: success ? text : `apply_patch failed: ${text}`, success }
}

/** What may be written unasked: as the profile says, and what was granted ahead. */
async function grantedPermissions(
  selected: ReadyEnvironment,
  info: EnvironmentInfo,
  { turn, signal }: ToolCall,
  { granted }: Services,
): Promise<Permissions> {
  const permissions = turn.permissionsIn(selected)
  const context = { permissions, place: selected, files: selected.environment.files, info, signal }
  const additional = await stillGranted({
    granted: granted.of(selected.environmentId, turn.id),
    findDenied: (paths) => findDenied(paths, context),
  })
  return additional ? widened(permissions, additional) : permissions
}

function directoryIn(cwd: PathUri, text: string): PathUri {
  try {
    return joinPath(cwd, text)
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new InvalidCall(`apply_patch verification failed: cd: ${cause.message}`, { cause })
  }
}

function patchText(args: unknown): string {
  if (typeof args === 'string' && !/^\s*\{/.test(args)) return args
  let given = args
  try {
    if (typeof args === 'string') given = JSON.parse(args)
  } catch {
    // Text that only begins like JSON: the parser of patches says what is wrong with it.
    return args as string
  }
  if (typeof given === 'object' && given !== null && 'input' in given && typeof given.input === 'string') {
    return given.input
  }
  throw new InvalidCall('failed to parse function arguments: expected a patch as text, or {"input": text}')
}

function parsed(text: string): Patch {
  try {
    return parsePatch(text)
  } catch (error) {
    throw asInvalidCall(error)
  }
}

async function invalidIfWrong<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw asInvalidCall(error)
  }
}

function asInvalidCall(error: unknown): unknown {
  if (!PatchError.is(error) && !ExecError.is(error)) return error
  return new InvalidCall(`apply_patch verification failed: ${error.message}`, { cause: error })
}
