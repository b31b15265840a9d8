import type { Services } from '../conversation/services.ts'
import type { ExecutionNetwork } from '../network/network-execution.ts'
import type { Denial } from '../orchestrator/tool-runtime.ts'
import { denialOf, type Ended } from './ended.ts'
import type { ExecSession } from './exec-session.ts'
import type { Unread } from './session-output.ts'
import type { Until } from './until.ts'
import { waitForSession } from './wait-for-session.ts'

/** What came of looking at a process for a while. */
export interface Observation extends Unread {
  readonly session: ExecSession
  readonly wallMs: number
  /** Absent while it goes on. */
  readonly ended?: Ended
  readonly denial?: Denial
}

interface ObserveOptions {
  readonly ms: number
  readonly until?: Until | undefined
  /** Where in its log begins what may be what is waited for. What no answer has told yet, if nothing is said. */
  readonly since?: number | undefined
  readonly signal: AbortSignal
  readonly services: Services
}

/** A network denial that comes with the end may be told a moment after it. */
const LATE_DENIAL_MS = 100

/** Waits for it, and takes what it has said. If it has ended, whoever looked has been told. */
export async function observe(session: ExecSession, options: ObserveOptions): Promise<Observation> {
  const { ms, until, since = session.output.takenTo, signal, services } = options
  const { pauses, now, store } = services
  const start = now()
  await waitForSession(session, { ms, until, since, pauses, signal, now })
  const ended = session.hasExited ? await session.ended : undefined
  if (ended && ended.exitCode !== 0) await settled(session.network)
  const denial = ended && denialOf(ended, session.network?.denial())
  if (ended) {
    session.endWasTold = true
    store.file(session)
  }
  return {
    session,
    ...session.output.takeUnread(),
    wallMs: now() - start,
    ...(ended && { ended }),
    ...(denial && { denial }),
  }
}

async function settled(network: ExecutionNetwork | undefined): Promise<void> {
  if (!network || network.denial() !== undefined) return
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      stop()
      resolve()
    }
    const timer = setTimeout(done, LATE_DENIAL_MS)
    const stop = network.onDenied(done)
  })
}
