import type { ExecFailure, ExecOutput } from './exec-output.ts'
import { truncateMiddle } from './truncate-middle.ts'

/** What a person is shown of one failure. */
const MESSAGE_MAX_BYTES = 2048

/** A failure in words, for people. */
export function failureMessage(failure: ExecFailure): string {
  return truncateMiddle(fullMessage(failure), { kind: 'bytes', limit: MESSAGE_MAX_BYTES })
}

function fullMessage(failure: ExecFailure): string {
  switch (failure.kind) {
    case 'denied':
      return deniedMessage(failure.output)
    case 'timed-out':
      return `error: command timed out after ${Math.round(failure.output.durationMs)} ms`
    case 'missing-variable': {
      const { name, instructions } = failure
      return `Missing environment variable: \`${name}\`.${instructions === undefined ? '' : ` ${instructions}`}`
    }
    case 'other':
      return failure.error.message
  }
}

function deniedMessage({ aggregated, stdout, stderr, exitCode }: ExecOutput): string {
  if (aggregated.trim() !== '') return aggregated
  const streams = [stderr, stdout].filter((text) => text.trim() !== '')
  return streams.length > 0 ? streams.join('\n') : `command failed inside sandbox with exit code ${exitCode}`
}
