import type { StructuredResponse } from '../output/exec-response.ts'
import type { Turn } from './turn.ts'

/** One call of a model. */
export interface ToolCall {
  readonly callId: string
  readonly turn: Turn
  /** Aborts with the turn, or when somebody gives up this call. */
  readonly signal: AbortSignal
}

/** What the model is told. */
export interface ToolAnswer {
  readonly text: string
  /** Whether the tool did what it does. A command that fails is a success of the tool. */
  readonly success: boolean
  /** The same for a program. */
  readonly structured?: StructuredResponse | Readonly<Record<string, unknown>>
}
