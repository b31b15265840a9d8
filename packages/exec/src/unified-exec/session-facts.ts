import type { PathUri } from '@waldo/protocol'

/** What becomes of a process at the end of a turn, or of the conversation. */
export type Lifetime =
  /** It ends with the turn, or when that is interrupted. */
  | 'turn'
  /** It ends with the conversation. */
  | 'conversation'
  /** Only somebody who means it ends it. */
  | 'detached'

export interface SessionFacts {
  readonly id: number
  /** The call that started it: it stays its name in events, whoever looks at it later. */
  readonly callId: string
  readonly turnId: string
  readonly environmentId: string
  readonly command: string
  readonly argv: readonly string[]
  readonly cwd: PathUri
  readonly tty: boolean
  readonly lifetime: Lifetime
  readonly sandboxed: boolean
  readonly attempt: 1 | 2
}
