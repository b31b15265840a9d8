/** What is in a directory, by path: the content of a file, or something else. */
export type Tree = Readonly<Record<string, Entry>>
type Entry =
  | string
  | Uint8Array
  | { readonly content: string; readonly mode: number }
  | { readonly link: string }
  | 'dir/'

/** A patch, what it finds, and what it leaves: another tree, or an error and the tree as it was. */
export interface PatchCase {
  /** A sentence about what a user sees. */
  readonly title: string
  readonly before: Tree
  readonly patch: string
  readonly after?: Tree
  readonly error?: RegExp
}

/** A patch of these lines. */
export function patch(...lines: readonly string[]): string {
  return ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
}

/** A patch that updates one file, called `f`. */
export function update(...lines: readonly string[]): string {
  return patch('*** Update File: f', ...lines)
}

export function bytes(...parts: readonly (string | number)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part]))))
}
