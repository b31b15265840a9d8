/** An assignment before a command, as in `FOO=1 make`. */
export interface Assignment {
  readonly name: string
  readonly value: string
}

/** Where a command reads from or writes to, other than it would, as in `make > log`. */
export interface Redirect {
  readonly operator: '<' | '>' | '>>' | '>|' | '<>' | '&>' | '&>>' | '>&' | '<&'
  /** The descriptor in front of it, if one is written there. */
  readonly descriptor?: number
  /** A path; or for `>&` and `<&` the digits of a descriptor, or `-`. */
  readonly target: string
}

/** One command, as it would be executed: its words without their quotes, and nothing that only the shell could know. */
export interface Segment {
  readonly words: readonly string[]
  readonly assignments: readonly Assignment[]
  readonly redirects: readonly Redirect[]
  /** What its words hand on to be run, if they do. Known of the commands of a plain line only. */
  readonly inside?: Inside
}

/** What can be seen of code that is handed on to be run: `bash -c '…'`, `eval '…'`, `trap '…' EXIT`. */
export interface Inside {
  /** Commands that can be seen in it. There may be others: they can forbid, never allow. */
  readonly within: readonly Segment[]
  /** There is more than was looked at, because it is nested too deep or too large: take it for dangerous. */
  readonly tooDeep?: true
}

/** What a command line consists of, as far as that can be known without running it. */
export type CommandLine =
  /** Nothing but these, in this order, some of them perhaps not at all (`&&`, `||`). */
  | { readonly kind: 'plain'; readonly segments: readonly Segment[] }
  /** The whole argv is one thing that cannot be seen through. */
  | (Inside & {
      readonly kind: 'opaque'
      /** What in it stands in the way, for people: `a command substitution at 1:7`. */
      readonly why: string
    })
