import { describePath } from '../approvals/describe-path.ts'
import type { Services } from '../conversation/services.ts'
import type { ToolAnswer } from '../conversation/tool-call.ts'

/** What is open: what runs, and what has ended without anybody being told. */
export function listSessions({ store }: Services): ToolAnswer {
  const sessions = store.open.map((session) => {
    const { id, command, cwd, environmentId, tty, lifetime } = session.facts
    return {
      session_id: id,
      state: session.hasExited ? 'ended' : 'running',
      command,
      cwd,
      environment_id: environmentId,
      tty,
      lifetime,
      age_seconds: Math.round(session.durationMs / 1000),
      output_bytes: session.output.log.totalBytes,
    }
  })
  const lines = sessions.map(({ session_id, state, age_seconds, command, cwd }) => {
    return `${session_id}  ${state}  ${age_seconds} s  ${describePath(cwd)}  ${JSON.stringify(command.slice(0, 200))}`
  })
  return {
    text: lines.length === 0 ? 'No sessions are open.' : lines.join('\n'),
    success: true,
    structured: { sessions },
  }
}
