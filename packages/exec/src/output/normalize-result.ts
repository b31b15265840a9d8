import type { ExecOutput, ExecResult } from './exec-output.ts'
import { failureMessage } from './failure-message.ts'

/** One shape for whatever has happened, so that events have one way. */
export function normalizeResult(result: ExecResult): ExecOutput {
  switch (result.kind) {
    case 'finished':
      return result.output
    case 'rejected':
      return said(result.message)
    case 'failed':
      return result.failure.kind === 'timed-out' ? result.failure.output : said(failureMessage(result.failure))
  }
}

function said(message: string): ExecOutput {
  return { exitCode: -1, stdout: '', stderr: message, aggregated: message, durationMs: 0, timedOut: false }
}
