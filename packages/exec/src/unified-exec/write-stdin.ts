import { abortable, ExecError } from '@waldo/environment'
import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import { retryRejected } from '../output/response-notes.ts'
import type { ExecSession } from './exec-session.ts'
import { type Observation, observe } from './observation.ts'
import { observedAnswer } from './observed-answer.ts'
import { outputBudget } from './output-budget.ts'
import { parseUntil, type UntilArgument, untilNotes } from './until.ts'
import { yieldTime } from './yield-time.ts'

export interface WriteStdinArguments {
  readonly session_id: number
  readonly chars?: string | undefined
  readonly yield_time_ms?: number | undefined
  readonly max_output_tokens?: number | undefined
  readonly until?: UntilArgument | undefined
}

const CTRL_C = '\u0003'
/** A program that was given something needs a moment before what it says is worth looking at. */
const AFTER_WRITE_MS = 100

/** Writes to a process, or only looks at it, and answers with what it has said since. */
export async function writeStdin(args: WriteStdinArguments, call: ToolCall, services: Services): Promise<ToolAnswer> {
  const { settings } = call.turn
  const { session_id: id, chars = '' } = args
  const maxOutputTokens = outputBudget(args)
  const until = parseUntil(args.until)
  const wait = yieldTime({
    requestedMs: args.yield_time_ms,
    kind: chars === '' ? 'poll' : 'write',
    hasCondition: until !== undefined,
    maxPollMs: settings.maxPollMs,
  })
  const { store, events } = services
  const session = store.get(id)
  const answer = await session.exclusively(async () => {
    // Whoever was here before may have started another attempt, which has its number now. So may anybody else.
    const current = store.get(id)
    if (current.facts.callId !== session.facts.callId) throw new InvalidCall(`Unknown process id ${id}`)
    if (current !== session) return undefined
    const wasTold = session.endWasTold
    store.used(session)
    // What was said before something is written is no answer to it.
    const since = chars === '' ? undefined : session.output.log.totalBytes
    const note = chars === '' ? undefined : await write(session, chars, call.signal)
    const observed = await observe(session, { ms: wait.ms, until, since, signal: call.signal, services })
    if (chars !== '' || !observed.ended) {
      const { callId, turnId } = session.facts
      events.emit({ type: 'terminal_interaction', callId, turnId, sessionId: id, stdin: chars })
    }
    const { shown, rejection } = wasTold ? { shown: observed } : await perhapsRetried(observed, call)
    const notes = [
      ...(wasTold ? ['Its end was told before'] : []),
      ...[note, rejection].filter((text) => text !== undefined),
      ...wait.notes,
      ...untilNotes(until),
    ]
    return observedAnswer(shown, services, { settings, maxOutputTokens, notes })
  }, call.signal)
  return answer ?? (await writeStdin(args, call, services))
}

/** Undefined, or what has to be said about it. */
async function write(session: ExecSession, chars: string, signal: AbortSignal): Promise<string | undefined> {
  const tooLate = 'Nothing was written: the process had ended'
  if (session.hasExited) return tooLate
  if (!session.facts.tty && chars !== CTRL_C) {
    throw new InvalidCall('stdin is closed for this session; rerun exec_command with tty=true to keep stdin open')
  }
  try {
    if (session.facts.tty) await session.write(chars, signal)
    else await session.interrupt(signal)
  } catch (error) {
    if (!ExecError.is(error)) throw error
    // Its end is on its way, and what the model wants to know.
    if (error.code === 'STDIN_CLOSED' || session.hasExited) return tooLate
    if (session.facts.tty || error.code !== 'UNSUPPORTED') {
      throw new InvalidCall(`write_stdin failed: ${error.message}`, { cause: error })
    }
    await session.kill('the executor cannot interrupt processes, so it was ended instead')
    return undefined
  }
  await abortable(new Promise((resolve) => setTimeout(resolve, AFTER_WRITE_MS)), signal)
  return undefined
}

/** A process that its sandbox denied something after its call was answered gets its second attempt here, if any. */
async function perhapsRetried(
  observed: Observation,
  { signal, turn }: ToolCall,
): Promise<{ readonly shown: Observation; readonly rejection?: string }> {
  const { session, denial } = observed
  // What was allowed in another turn was allowed under other settings.
  const retry = session.facts.turnId === turn.id ? session.retry : undefined
  const outcome = denial && (await retry?.(denial, signal))
  if (outcome === undefined) return { shown: observed }
  if (outcome.kind === 'rejected') return { shown: observed, rejection: retryRejected(outcome.reason) }
  if (outcome.retryRejected === undefined) return { shown: outcome.value }
  return { shown: observed, rejection: retryRejected(outcome.retryRejected) }
}
