/** What a patch says, before anybody has looked at a file. Lines are counted from 1, in the text as it was given. */
export interface Patch {
  /** Where it is to be applied, if there are several places. */
  readonly environmentId?: string
  readonly sections: readonly Section[]
}

/** What happens to one file. */
export type Section = AddSection | DeleteSection | UpdateSection

interface AnySection {
  /** As it is written there. */
  readonly path: string
  readonly line: number
}

export interface AddSection extends AnySection {
  readonly kind: 'add'
  readonly content: readonly string[]
}

interface DeleteSection extends AnySection {
  readonly kind: 'delete'
}

export interface UpdateSection extends AnySection {
  readonly kind: 'update'
  readonly moveTo?: string
  readonly hunks: readonly Hunk[]
}

/** One place in a file, and what becomes of it. */
export interface Hunk {
  /** Lines to go to first, one after the other. */
  readonly contexts: readonly string[]
  readonly lines: readonly HunkLine[]
  /** The last line of it is the last line of the file. */
  readonly endOfFile: boolean
  readonly line: number
}

export interface HunkLine {
  readonly kind: 'keep' | 'remove' | 'add'
  readonly text: string
}
