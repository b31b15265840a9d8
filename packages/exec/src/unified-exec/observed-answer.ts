import type { Services } from '../conversation/services.ts'
import type { Settings } from '../conversation/settings.ts'
import type { ToolAnswer } from '../conversation/tool-call.ts'
import { newChunkId, structuredResponse } from '../output/exec-response.ts'
import { fitResponse } from '../output/fit-response.ts'
import { manyProcessesWarning, warning } from '../output/response-notes.ts'
import { originalTokenCount, rawText, shapeOutput } from '../output/shape-output.ts'
import { endedNotes } from './ended.ts'
import type { Observation } from './observation.ts'
import { MAX_SESSIONS, WARNING_SESSIONS } from './session-store.ts'

const OUT_OF_REACH = warning(
  'the connection to it is cut and being taken up again: what it says meanwhile comes when that is done',
)

export interface AnswerOptions {
  readonly settings: Settings
  readonly maxOutputTokens: number | undefined
  readonly notes: readonly string[]
}

/** What the model is told of it. */
export function observedAnswer(observed: Observation, services: Services, options: AnswerOptions): ToolAnswer {
  const { session, output, offset, droppedBytes, wallMs, ended, denial } = observed
  const { store } = services
  const open = store.openCount
  const notes = [
    ...(ended ? endedNotes(ended, denial) : []),
    ...options.notes,
    ...(droppedBytes > 0 ? [warning(`${droppedBytes} bytes of output came faster than they could be kept`)] : []),
    ...(!ended && !session.isReachable ? [OUT_OF_REACH] : []),
    ...(!ended && open >= WARNING_SESSIONS ? [manyProcessesWarning(open, MAX_SESSIONS)] : []),
  ]
  const response = {
    chunkId: newChunkId(),
    wallTimeMs: wallMs,
    exitCode: ended?.exitCode ?? undefined,
    sessionId: ended ? undefined : session.facts.id,
    notes,
  }
  const { settings, maxOutputTokens } = options
  const full = { sessionId: session.facts.id, offset }
  return {
    text: fitResponse(response, output, { model: settings.truncation, maxOutputTokens, full }),
    success: true,
    structured: structuredResponse({
      ...response,
      originalTokenCount: originalTokenCount(output),
      output:
        maxOutputTokens === undefined
          ? rawText(output)
          : shapeOutput(output, { kind: 'tokens', limit: maxOutputTokens }, full),
    }),
  }
}
