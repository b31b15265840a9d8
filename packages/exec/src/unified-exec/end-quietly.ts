import type { Services } from '../conversation/services.ts'
import type { ExecSession } from './exec-session.ts'

/** Nobody waits for it; if it fails, that is told. */
export async function endQuietly(
  session: ExecSession,
  reason: string,
  { events }: Pick<Services, 'events'>,
): Promise<void> {
  try {
    await session.kill(reason)
  } catch (error) {
    const { callId, turnId, id } = session.facts
    const text = `process ${id} could not be ended: ${(error as Error).message}`
    events.emit({ type: 'warning', callId, turnId, text })
  }
}
