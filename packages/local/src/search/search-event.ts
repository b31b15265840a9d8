import type { ByteString } from '../byte-string.ts'
import type { Excerpts } from './excerpts.ts'
import type { SkippedFile } from './text-file.ts'
import type { WalkError } from './walk.ts'

/** A line that matches. */
export interface Found {
  readonly kind: 'found'
  readonly path: ByteString
  readonly relative: ByteString
  /** From 1. */
  readonly line: number
  /** In bytes, from 1; undefined for the end of the line. */
  readonly column: number | undefined
  /** Of the file as it was searched. */
  readonly excerpts: Excerpts
}

/** What a search tells as it goes, in the order of the walk. */
export type SearchEvent = Found | SkippedFile | WalkError
