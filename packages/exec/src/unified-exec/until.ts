import { InvalidCall } from '../conversation/invalid-call.ts'
import { PatternError } from '../output/line-pattern/pattern-error.ts'
import { StreamSearch } from '../output/line-pattern/stream-search.ts'
import { warning } from '../output/response-notes.ts'

/** What a call waits for, as a model writes it. Null is as good as absent. */
export type UntilArgument = 'exit' | 'output' | { readonly idle_ms?: number | null; readonly match?: string | null }

/** What ends a wait before its time, besides the end of the process. */
export type Until =
  | { readonly kind: 'exit' }
  | { readonly kind: 'output' }
  | { readonly kind: 'idle'; readonly ms: number }
  /** `hasCome` is set by whoever sees it. */
  | { readonly kind: 'match'; readonly search: StreamSearch; hasCome: boolean }

export function parseUntil(argument: UntilArgument | undefined): Until | undefined {
  if (argument === undefined) return undefined
  if (typeof argument === 'string') return { kind: argument }
  const ms = argument.idle_ms ?? undefined
  const match = argument.match ?? undefined
  if (match !== undefined && ms === undefined) return { kind: 'match', search: parsed(match), hasCome: false }
  if (ms === undefined || match !== undefined) {
    throw new InvalidCall('`until` takes one of "exit", "output", {"idle_ms": number} and {"match": text}')
  }
  if (!(ms > 0)) throw new InvalidCall('`until.idle_ms` has to be above 0')
  return { kind: 'idle', ms }
}

/** For the model, if what it waits for has not come, or nobody can know. */
export function untilNotes(until: Until | undefined): string[] {
  if (until?.kind !== 'match' || until.hasCome) return []
  if (!until.search.isSpent) return ['`until.match` has not come']
  return [warning('`until.match` is too hard for this output, and was not looked for to the end: search for less')]
}

function parsed(match: string): StreamSearch {
  try {
    return StreamSearch.parse(match)
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new InvalidCall(`\`until.match\`: ${error.message}`, { cause: error })
  }
}
