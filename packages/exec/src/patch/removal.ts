import { ExecError } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { type PatchedFiles, temporaryBeside } from './patched-files.ts'
import { stubbornly, throughCuts } from './patient-calls.ts'
import { removeAll } from './remove-all.ts'

export interface RemovalOptions {
  readonly target: PathUri
  readonly before: Uint8Array
  /** Copied and removed, because it cannot be renamed. */
  readonly direct: boolean
}

/** A file that goes. It is set aside under another name first, and comes back as it was if something else fails. */
export class Removal {
  readonly target: PathUri
  readonly before: Uint8Array
  readonly direct: boolean
  readonly #files: PatchedFiles
  readonly #aside: PathUri
  #mayBeGone = false

  constructor(files: PatchedFiles, { target, before, direct }: RemovalOptions) {
    this.target = target
    this.before = before
    this.direct = direct
    this.#files = files
    this.#aside = temporaryBeside(target)
  }

  get leftovers(): readonly PathUri[] {
    return this.#mayBeGone ? [this.#aside] : []
  }

  async setAside(): Promise<void> {
    this.#mayBeGone = true
    if (this.direct) {
      await throughCuts(() => this.#files.copy(this.target, this.#aside))
      await throughCuts(() => this.#files.remove(this.target))
      return
    }
    await throughCuts(
      () => this.#files.rename(this.target, this.#aside, { overwrite: false }),
      // Nobody else knows the name: if it is there, it was renamed.
      async () => (await this.#files.read(this.#aside)) !== undefined,
    )
  }

  /** For good. Returns what could not be removed. */
  async discard(): Promise<PathUri[]> {
    return await removeAll(this.#files, [this.#aside])
  }

  async undo(): Promise<void> {
    if (this.#mayBeGone) await stubbornly(() => (this.direct ? this.#copyBack() : this.#comeBack()))
  }

  async #comeBack(): Promise<void> {
    try {
      await this.#files.rename(this.#aside, this.target, { overwrite: false })
    } catch (error) {
      // It never went, or is back already.
      const isAside = !ExecError.is(error, 'UNSUPPORTED') && (await this.#files.read(this.#aside)) !== undefined
      if (isAside) throw error
    }
  }

  async #copyBack(): Promise<void> {
    if ((await this.#files.read(this.target)) === undefined) await this.#files.copy(this.#aside, this.target)
    await this.#files.remove(this.#aside)
  }
}
