import { LinePattern } from '../output/line-pattern/line-pattern.ts'
import { InvalidCall } from '../permissions/call-permissions.ts'

/** What a call waits for, as a model writes it. */
export type UntilArgument = 'exit' | 'output' | { readonly idle_ms?: number; readonly match?: string }

/** What ends a wait before its time, besides the end of the process. */
export type Until =
  | { readonly kind: 'exit' }
  | { readonly kind: 'output' }
  | { readonly kind: 'idle'; readonly ms: number }
  | { readonly kind: 'match'; readonly pattern: LinePattern }

export function parseUntil(argument: UntilArgument | undefined): Until | undefined {
  if (argument === undefined) return undefined
  if (typeof argument === 'string') return { kind: argument }
  const { idle_ms: ms, match } = argument
  if ((ms === undefined) === (match === undefined)) {
    throw new InvalidCall('`until` takes one of "exit", "output", {"idle_ms": number} and {"match": text}')
  }
  if (match !== undefined) return { kind: 'match', pattern: LinePattern.parse(match) }
  if (!(ms! > 0)) throw new InvalidCall('`until.idle_ms` has to be above 0')
  return { kind: 'idle', ms: ms! }
}
