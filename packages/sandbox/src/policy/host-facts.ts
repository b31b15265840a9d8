/** What a path leads to on the machine where the command will run. */
export interface ResolvedPath {
  /** Without symbolic links, as far as it exists. */
  readonly path: string
  readonly exists: boolean
  readonly isDirectory: boolean
  /** Where the symbolic links are that were followed on the way: each by the path of its directory without links. */
  readonly links: readonly string[]
}

/** What a profile has to know of the machine that it is to hold on. */
export interface HostFacts {
  resolve(path: string): ResolvedPath
  /** The `TMPDIR` of the executor. */
  readonly temporaryDirectory: string | undefined
  /** What programs need to run at all: to be read where a profile says `minimal`. */
  readonly platformDirectories: readonly string[]
  /** The repository that a `.git` file points to, and the one that this shares its content with. */
  gitDirectories(pointer: string): readonly string[]
}
