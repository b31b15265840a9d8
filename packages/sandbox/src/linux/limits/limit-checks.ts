import { availableParallelism } from 'node:os'
import type { LimitHit } from './limits.ts'

/** One thing to look at from time to time. */
export interface LimitCheck {
  hit(): LimitHit | undefined
  /** When to look again at the latest. */
  nextMs(): number
}

const SOON_MS = 25
const LATER_MS = 250

export function wallCheck(limitMs: number): LimitCheck {
  const deadline = performance.now() + limitMs
  return {
    hit: () => (performance.now() < deadline ? undefined : wallHit(limitMs)),
    nextMs: () => deadline - performance.now(),
  }
}

export function cpuCheck(limitSeconds: number, usedSeconds: () => number): LimitCheck {
  // Where it is summed up over the living, the sum falls when one of them ends.
  let used = 0
  // However many there are to spend it, time does not go by faster than on all CPUs at once.
  const spentPerMs = availableParallelism() / 1000
  const look = () => {
    used = Math.max(used, usedSeconds())
    return used
  }
  return {
    hit: () => cpuHit(limitSeconds, look()),
    nextMs: () => Math.min(LATER_MS, Math.max(SOON_MS, (limitSeconds - used) / spentPerMs)),
  }
}

/** For kernels that kill one of the tree and let the others go on. */
export function memoryCheck(limitBytes: number, kills: () => number): LimitCheck {
  return { hit: () => memoryHit(limitBytes, kills()), nextMs: () => LATER_MS }
}

function wallHit(limitMs: number): LimitHit {
  return { kind: 'wallMs', detail: `it was still running after ${limitMs} ms` }
}

export function cpuHit(limitSeconds: number, usedSeconds: number): LimitHit | undefined {
  if (usedSeconds < limitSeconds) return undefined
  return { kind: 'cpuSeconds', detail: `it has used ${usedSeconds.toFixed(2)} s of CPU time, of ${limitSeconds} s` }
}

export function memoryHit(limitBytes: number, kills: number): LimitHit | undefined {
  if (kills === 0) return undefined
  return { kind: 'memoryBytes', detail: `the kernel has ended it, as it needed more than ${limitBytes} bytes` }
}

export function processesHit(limit: number, refused: number): LimitHit | undefined {
  if (refused === 0) return undefined
  return { kind: 'processes', detail: `it could not start more than ${limit} (refused ${refused} times)` }
}
