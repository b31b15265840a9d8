import { ExecError } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { type PatchedFiles, temporaryBeside } from './patched-files.ts'
import { stubbornly, throughCuts } from './patient-calls.ts'

export interface RemovalOptions {
  readonly target: PathUri
  readonly before: Uint8Array
  readonly mode: number | undefined
  /** Removed for good at once, because it cannot be renamed. */
  readonly direct: boolean
}

/** A file that goes. It is set aside under another name first, and comes back as it was if something else fails. */
export class Removal {
  readonly target: PathUri
  readonly before: Uint8Array
  readonly direct: boolean
  readonly #files: PatchedFiles
  readonly #mode: number | undefined
  readonly #aside: PathUri
  #mayBeGone = false

  constructor(files: PatchedFiles, { target, before, mode, direct }: RemovalOptions) {
    this.target = target
    this.before = before
    this.direct = direct
    this.#files = files
    this.#mode = mode
    this.#aside = temporaryBeside(target)
  }

  get leftovers(): readonly PathUri[] {
    return this.#mayBeGone && !this.direct ? [this.#aside] : []
  }

  async setAside(): Promise<void> {
    this.#mayBeGone = true
    if (this.direct) {
      await throughCuts(() => this.#files.remove(this.target))
      return
    }
    await throughCuts(
      () => this.#files.rename(this.target, this.#aside, { overwrite: false }),
      // Nobody else knows the name: if it is there, it was renamed.
      async () => (await this.#files.read(this.#aside)) !== undefined,
    )
  }

  /** For good. */
  async discard(): Promise<void> {
    if (!this.direct) await stubbornly(() => this.#files.remove(this.#aside))
  }

  async undo(): Promise<void> {
    if (this.#mayBeGone) await stubbornly(() => this.#restore())
  }

  async #restore(): Promise<void> {
    if (!this.direct) {
      await this.#comeBack()
      return
    }
    if ((await this.#files.read(this.target)) !== undefined) return
    await this.#files.write(this.target, this.before)
    if (this.#mode !== undefined) await this.#files.setMode(this.target, this.#mode)
  }

  async #comeBack(): Promise<void> {
    try {
      await this.#files.rename(this.#aside, this.target, { overwrite: false })
    } catch (error) {
      // It never went, or is back already.
      if (!ExecError.is(error, 'FILE_NOT_FOUND') && !ExecError.is(error, 'UNSUPPORTED')) throw error
    }
  }
}
