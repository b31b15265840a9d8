import type { ExitVerdict } from '@waldo/environment'

/** What is said about an end besides its code, out of an event or an answer. Older executors say nothing. */
export function exitVerdict(end: Partial<ExitVerdict>): ExitVerdict {
  const { sandboxDenied = false, sandboxDenials, sandboxFailed, limitHit } = end
  return {
    sandboxDenied,
    ...(sandboxDenials && { sandboxDenials }),
    ...(sandboxFailed && { sandboxFailed }),
    ...(limitHit && { limitHit }),
  }
}
