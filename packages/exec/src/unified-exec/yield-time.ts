/** How long a call waits for a process before it answers with what there is. Nothing is ever killed by that. */
export const MIN_YIELD_MS = 250
const MAX_YIELD_MS = 30_000
const MIN_POLL_MS = 5000
const DEFAULT_COMMAND_MS = 10_000
const DEFAULT_WRITE_MS = 250
/** The longest wait of a call that only looks, or that says what it waits for, unless the harness says otherwise. */
export const DEFAULT_MAX_POLL_MS = 300_000

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
  /** For the model, if it gets something else than it asked for. */
  readonly note?: string
}

export function yieldTime({ requestedMs, kind, hasCondition, maxPollMs }: YieldRequest): YieldTime {
  const longest = Math.max(MIN_POLL_MS, maxPollMs)
  const [least, most, usual] = hasCondition
    ? [MIN_YIELD_MS, longest, longest]
    : ({
        command: [MIN_YIELD_MS, MAX_YIELD_MS, DEFAULT_COMMAND_MS],
        write: [MIN_YIELD_MS, MAX_YIELD_MS, DEFAULT_WRITE_MS],
        poll: [MIN_POLL_MS, longest, MIN_POLL_MS],
      }[kind] as [number, number, number])
  const ms = Math.min(Math.max(requestedMs ?? usual, least), most)
  // A wait that is made longer tells by itself; one that is cut short looks like a process that hangs.
  if (requestedMs === undefined || requestedMs <= most) return { ms }
  return { ms, note: `Warning: yield_time_ms ${requestedMs} is more than the ${most} that are allowed here.` }
}
