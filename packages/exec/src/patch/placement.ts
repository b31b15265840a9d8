import { ExecError } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { PatchError } from './patch-error.ts'
import { type PatchedFiles, temporaryBeside } from './patched-files.ts'
import { stubbornly, throughCuts } from './patient-calls.ts'
import { sameBytes } from './same-bytes.ts'

export interface PlacementOptions {
  readonly target: PathUri
  /** What is there now; undefined: nothing. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array
  /** The file whose mode the new one has; undefined: that of any new file. */
  readonly like: PathUri | undefined
  /** Written to the target itself, because nothing can take its place. */
  readonly direct: boolean
}

/**
 * New content for a path. It is written beside it first, where all that can fail does, and then takes its place by a
 * rename: other names of the old file (hard links) keep the old content.
 */
export class Placement {
  readonly target: PathUri
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array
  readonly direct: boolean
  readonly #files: PatchedFiles
  readonly #like: PathUri | undefined
  /** Every name that was ever used for it, the last of which is the one that counts. */
  readonly #staged: PathUri[] = []
  #mayBePlaced = false
  /** Why nothing can take the place of this target; then it may be possible to write to it. */
  #obstacle: unknown

  constructor(files: PatchedFiles, { target, before, after, like, direct }: PlacementOptions) {
    this.target = target
    this.before = before
    this.after = after
    this.direct = direct
    this.#files = files
    this.#like = like
  }

  /** Whether it is worth writing to the target itself: there is a file, and it was another call that failed. */
  get couldBeDirect(): boolean {
    return !this.direct && this.before !== undefined && ExecError.is(this.#obstacle)
  }

  get leftovers(): readonly PathUri[] {
    return this.#staged
  }

  async stage(): Promise<void> {
    if (this.direct) return
    await this.#watch(() =>
      throughCuts(async () => {
        // A new name each time: what was cut off may still be writing to the old one.
        const path = temporaryBeside(this.target)
        this.#staged.push(path)
        if (this.#like !== undefined) await this.#files.copy(this.#like, path)
        await this.#files.write(path, this.after)
      }),
    )
  }

  async place(): Promise<void> {
    this.#mayBePlaced = true
    if (this.direct) {
      await throughCuts(() => this.#files.write(this.target, this.after))
      return
    }
    const staged = this.#staged.at(-1)!
    await this.#watch(() =>
      throughCuts(
        () => this.#files.rename(staged, this.target, { overwrite: this.before !== undefined }),
        async () => !(await this.#files.read(staged)) && (await this.#files.holds(this.target, this.after)),
      ),
    )
  }

  /** Nothing stays of it but what was placed. */
  async discard(): Promise<void> {
    const names = this.#mayBePlaced ? this.#staged.slice(0, -1) : this.#staged
    await Promise.all(names.map((path) => stubbornly(() => this.#files.remove(path))))
  }

  async undo(): Promise<void> {
    // First: what is on its way to the target finds nothing to rename any more, and what is there then stays there.
    await Promise.all(this.#staged.map((path) => stubbornly(() => this.#files.remove(path))))
    if (this.#mayBePlaced) await stubbornly(() => this.#restore())
  }

  async #restore(): Promise<void> {
    const { target, before, after } = this
    const found = await this.#files.read(target)
    const holds = (content: Uint8Array | undefined) =>
      content === undefined || found === undefined ? content === found : sameBytes(content, found)
    if (holds(before)) return
    // Written to in place, it may be half of one and half of the other.
    if (!this.direct && !holds(after)) throw new PatchError('STALE', 'somebody else has changed it meanwhile')
    if (before === undefined) await this.#files.remove(target)
    else await this.#files.write(target, before)
  }

  async #watch(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      this.#obstacle = error
      throw error
    }
  }
}
