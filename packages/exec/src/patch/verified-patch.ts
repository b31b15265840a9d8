import type { PathUri } from '@waldo/protocol'
import type { Site } from './survey.ts'

interface AnyChange {
  /** As the patch writes it. */
  readonly name: string
  /** Where that leads to, all links on the way followed; below a home as that was given, if it is in one. */
  readonly path: PathUri
  /**
   * To be shown to whoever decides: what is there against what will be, where something is moved to, too. Computed when
   * it is looked at first.
   */
  readonly diff: string
}

/** What becomes of one file. */
export type Change =
  | (AnyChange & { readonly kind: 'add' | 'update'; readonly after: Uint8Array })
  | (AnyChange & { readonly kind: 'delete'; readonly after?: undefined })
  | (AnyChange & {
      readonly kind: 'move'
      readonly toName: string
      readonly to: PathUri
      readonly after: Uint8Array
    })

/** A patch that fits the files as they were a moment ago. Nothing has been written. */
export interface VerifiedPatch {
  /** As it was given. */
  readonly cwd: PathUri
  /** Where that leads to, as `path` of a change. */
  readonly directory: PathUri
  readonly changes: readonly Change[]
  /** Everything that is written, created or removed: what an approval has to be about. */
  readonly touched: readonly PathUri[]
  /** What was there, by the path that leads there. */
  readonly sites: ReadonlyMap<PathUri, Site>
}
