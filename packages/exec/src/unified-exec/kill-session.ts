import { abortable, ExecError } from '@waldo/environment'
import { InvalidCall } from '../conversation/invalid-call.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer, ToolCall } from '../conversation/tool-call.ts'
import { observe } from './observation.ts'
import { observedAnswer } from './observed-answer.ts'

export interface KillSessionArguments {
  readonly session_id: number
  readonly grace_ms?: number | undefined
}

const MAX_GRACE_MS = 30_000

/** Ends a process and everything that it has started, and answers with the last that it said. */
export async function killSession(args: KillSessionArguments, call: ToolCall, services: Services): Promise<ToolAnswer> {
  const { session_id: id, grace_ms: graceMs = 0 } = args
  const session = services.store.get(id)
  const hadEnded = session.hasExited
  const { signal, turn } = call
  // Not in turn: whoever waits for it is to see it end. And whoever gives up does not take it back.
  const killed = abortable(
    session.kill('kill_session was called', { graceMs: Math.min(Math.max(0, graceMs), MAX_GRACE_MS) }),
    signal,
  )
  const answered = session.exclusively(async () => {
    await killed
    const observed = await observe(session, { ms: 0, signal, services })
    const notes = hadEnded ? ['It had ended before'] : []
    return observedAnswer(observed, services, { settings: turn.settings, maxOutputTokens: undefined, notes })
  }, signal)
  answered.catch(() => {}) // If it cannot be killed, that is told at once, whoever is before us.
  try {
    await killed
  } catch (error) {
    if (!ExecError.is(error)) throw error
    throw new InvalidCall(`kill_session failed: ${error.message}`, { cause: error })
  }
  return await answered
}
