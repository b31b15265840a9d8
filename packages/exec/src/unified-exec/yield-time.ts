import { clampedYieldWarning } from '../output/response-notes.ts'

/** How long a call waits for a process before it answers with what there is. Nothing is ever killed by that. */
const MIN_YIELD_MS = 250
const MAX_YIELD_MS = 30_000
const MIN_POLL_MS = 5000
const DEFAULT_COMMAND_MS = 10_000
const DEFAULT_WRITE_MS = 250
/** Timers cannot wait longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface YieldRequest {
  /** What the model asks for. */
  readonly requestedMs: number | undefined
  readonly kind: 'command' | 'write' | 'poll'
  /** It says what it waits for: then it may take as long as a poll, and does if it does not say how long. */
  readonly hasCondition: boolean
  readonly maxPollMs: number
}

export interface YieldTime {
  readonly ms: number
  /** For the model, if it gets less than it asked for. */
  readonly notes: readonly string[]
}

export function yieldTime({ requestedMs, kind, hasCondition, maxPollMs }: YieldRequest): YieldTime {
  const longest = Math.min(Math.max(MIN_POLL_MS, maxPollMs), LONGEST_TIMER_MS)
  const { least, most, usual } = hasCondition
    ? { least: MIN_YIELD_MS, most: longest, usual: longest }
    : {
        command: { least: MIN_YIELD_MS, most: MAX_YIELD_MS, usual: DEFAULT_COMMAND_MS },
        write: { least: MIN_YIELD_MS, most: MAX_YIELD_MS, usual: DEFAULT_WRITE_MS },
        poll: { least: MIN_POLL_MS, most: longest, usual: MIN_POLL_MS },
      }[kind]
  const ms = Math.min(Math.max(requestedMs ?? usual, least), most)
  // A wait that is made longer tells by itself; one that is cut short looks like a process that hangs.
  const isCut = requestedMs !== undefined && requestedMs > most
  return { ms, notes: isCut ? [clampedYieldWarning(requestedMs, ms)] : [] }
}
