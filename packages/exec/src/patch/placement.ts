import { ExecError } from '@waldo/environment'
import { baseName, type PathUri } from '@waldo/protocol'
import { PatchError } from './patch-error.ts'
import { type PatchedFiles, temporaryBeside } from './patched-files.ts'
import { stubbornly, throughCuts } from './patient-calls.ts'
import { removeAll } from './remove-all.ts'
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
  /** Why nothing could take the place of the target. */
  #obstacle: ExecError | undefined

  constructor(files: PatchedFiles, { target, before, after, like, direct }: PlacementOptions) {
    this.target = target
    this.before = before
    this.after = after
    this.direct = direct
    this.#files = files
    this.#like = like
  }

  /** Whether it is worth writing to the target itself: there is a file, and it was a file beside it that failed. */
  get couldBeDirect(): boolean {
    return this.before !== undefined && this.#obstacle?.code.startsWith('FILE_') === true
  }

  get leftovers(): readonly PathUri[] {
    return this.#staged
  }

  /** What is written to keeps its mode: so first there has to be something that has the right one. */
  async prepare(): Promise<void> {
    if (this.#like === undefined) return
    await throughCuts(() => this.#begin()).catch((error) => this.#failed(error))
  }

  async stage(): Promise<void> {
    let path = this.#staged.at(-1)
    const write = async () => {
      path ??= await this.#begin()
      const staged = path
      path = undefined
      await this.#files.write(staged, this.after)
    }
    await throughCuts(write).catch((error) => this.#failed(error))
  }

  async place(): Promise<void> {
    this.#mayBePlaced = true
    if (this.direct) {
      // What is not there yet gets its mode first.
      if (this.#like !== undefined && this.before === undefined) {
        await throughCuts(() => this.#files.copy(this.#like!, this.target))
      }
      await throughCuts(() => this.#files.write(this.target, this.after))
      return
    }
    const staged = this.#staged.at(-1)!
    await throughCuts(
      () => this.#files.rename(staged, this.target, { overwrite: this.before !== undefined }),
      // Nobody else knows the name: if it is gone, it was renamed.
      async () => (await this.#files.read(staged)) === undefined,
    ).catch((error) => this.#failed(error))
  }

  /** Nothing stays of it but what was placed. Returns what could not be removed. */
  async discard(): Promise<PathUri[]> {
    return await removeAll(this.#files, this.#staged.slice(0, -1))
  }

  async undo(): Promise<void> {
    const [staged, ...older] = [...this.#staged].reverse()
    let wasStaged = false
    const takeBack = async () => {
      if (staged !== undefined) wasStaged = await this.#files.remove(staged)
    }
    // First: what is on its way to the target finds nothing to rename any more. If there was nothing to remove, it has
    // been renamed, whatever was answered.
    await Promise.all([takeBack, ...older.map((path) => () => this.#files.remove(path))].map(stubbornly))
    if (this.#mayBePlaced && !wasStaged) await stubbornly(() => this.#restore())
  }

  /** Under a new name each time: what was cut off may still be writing to the old one. */
  async #begin(): Promise<PathUri> {
    const path = temporaryBeside(this.target)
    this.#staged.push(path)
    if (this.#like !== undefined) await this.#files.copy(this.#like, path)
    return path
  }

  async #restore(): Promise<void> {
    const { target, before, after } = this
    const found = await this.#files.read(target)
    if (sameBytes(found, before)) return
    // Written to in place, it may be half of one and half of the other.
    if (!this.direct && !sameBytes(found, after))
      throw new PatchError('STALE', 'somebody else has changed it meanwhile')
    if (before === undefined) await this.#files.remove(target)
    else await this.#files.write(target, before)
  }

  /** Nobody asked for the file beside the target: what is said about it is said about the target. */
  #failed(error: unknown): never {
    if (!ExecError.is(error)) throw error
    let { message } = error
    for (const path of this.#staged) message = message.replaceAll(baseName(path)!, baseName(this.target) ?? '')
    this.#obstacle = new ExecError(error.code, message, { cause: error })
    throw this.#obstacle
  }
}
