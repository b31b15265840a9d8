import type { PathUri } from '@waldo/protocol'
import type { PatchedFiles } from './patched-files.ts'
import { allAtOnce, stubbornly, throughCuts } from './patient-calls.ts'
import type { Site } from './survey.ts'

/** Directories that a patch needs and that were not there. */
export class NewDirectories {
  readonly #files: PatchedFiles
  /** Those that hold files, and what has to be made above them. */
  readonly #innermost: ReadonlySet<PathUri>
  readonly #all: ReadonlySet<PathUri>
  #mayBeThere = false

  constructor(files: PatchedFiles, sites: readonly Site[]) {
    this.#files = files
    this.#innermost = new Set(sites.flatMap(({ missingDirectories }) => missingDirectories.slice(-1)))
    this.#all = new Set(sites.flatMap(({ missingDirectories }) => missingDirectories))
  }

  async make(): Promise<void> {
    if (this.#innermost.size === 0) return
    this.#mayBeThere = true
    await allAtOnce([...this.#innermost].map((path) => () => throughCuts(() => this.#files.createDirectory(path))))
  }

  /** From the innermost outwards, those of the same depth at once. One that somebody else uses by now stays. */
  async undo(): Promise<void> {
    if (!this.#mayBeThere) return
    const depths = new Map<number, PathUri[]>()
    for (const path of this.#all) {
      const depth = path.split('/').length
      depths.set(depth, [...(depths.get(depth) ?? []), path])
    }
    for (const [, paths] of [...depths].sort(([a], [b]) => b - a)) {
      await allAtOnce(paths.map((path) => () => stubbornly(() => this.#files.remove(path))))
    }
  }
}
