import { ExecError } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { NewDirectories } from './new-directories.ts'
import type { PatchedFiles } from './patched-files.ts'
import { allAtOnce } from './patient-calls.ts'
import { Placement } from './placement.ts'
import { Removal } from './removal.ts'
import { sameBytes } from './same-bytes.ts'
import type { Site } from './survey.ts'
import type { Change, VerifiedPatch } from './verified-patch.ts'

/** Targets that are written to themselves. */
export type DirectTargets = 'all' | ReadonlySet<PathUri>

/** One go at writing a patch: everything of it, or nothing. */
export class CommitAttempt {
  readonly placements: readonly Placement[]
  readonly removals: readonly Removal[]
  readonly #directories: NewDirectories
  #error: unknown

  constructor(files: PatchedFiles, { changes, sites }: VerifiedPatch, direct: DirectTargets) {
    const byPath = new Map([...sites.values()].map((site) => [site.path, site]))
    const isDirect = (target: PathUri) => direct === 'all' || direct.has(target)
    const placements: Placement[] = []
    const removals: Removal[] = []
    const used: Site[] = []
    const place = ({ real: target, found }: Site, after: Uint8Array, like: PathUri | undefined) => {
      const before = found.kind === 'file' ? found.content : undefined
      if (sameBytes(before, after)) return
      placements.push(new Placement(files, { target, before, after, like, direct: isDirect(target) }))
    }
    const remove = ({ real: target, found }: Site) => {
      if (found.kind !== 'file') return
      removals.push(new Removal(files, { target, before: found.content, direct: isDirect(target) }))
    }
    for (const change of changes) {
      const site = byPath.get(change.path)!
      const target = change.kind === 'move' ? byPath.get(change.to)! : site
      used.push(target)
      if (change.after) place(target, change.after, modeSource(change, { site, target }))
      if (change.kind === 'delete' || change.kind === 'move') remove(site)
    }
    this.placements = placements
    this.removals = removals
    this.#directories = new NewDirectories(files, used)
  }

  /**
   * Each step is one round trip for any number of files. What can fail comes first, what can be seen last;
   * `signal` counts until then.
   */
  async run(signal: AbortSignal | undefined): Promise<void> {
    const { placements, removals } = this
    const direct = placements.filter((placement) => placement.direct)
    const staged = placements.filter((placement) => !placement.direct)
    try {
      signal?.throwIfAborted()
      await this.#directories.make()
      signal?.throwIfAborted()
      await allAtOnce(staged.map((placement) => () => placement.prepare()))
      signal?.throwIfAborted()
      await allAtOnce(staged.map((placement) => () => placement.stage()))
      signal?.throwIfAborted()
      await allAtOnce(direct.map((placement) => () => placement.place()))
      const renames = [
        ...staged.map((placement) => () => placement.place()),
        ...removals.filter((removal) => !removal.direct).map((removal) => () => removal.setAside()),
      ]
      await allAtOnce(renames)
      // Last: until everything else is there, they stay where they are.
      await allAtOnce(removals.filter((removal) => removal.direct).map((removal) => () => removal.setAside()))
    } catch (error) {
      this.#error = error
      throw error
    }
  }

  /** What was kept for undoing is not needed any more. Returns what could not be removed. */
  async finish(): Promise<PathUri[]> {
    return (await Promise.all([...this.placements, ...this.removals].map((each) => each.discard()))).flat()
  }

  /** Everything as it was before. Throws the first reason why that cannot be. */
  async undo(): Promise<void> {
    await allAtOnce([...this.placements, ...this.removals].map((each) => () => each.undo()))
    await this.#directories.undo()
  }

  /** What to write to directly in another attempt; undefined if that would change nothing. */
  directInstead(direct: DirectTargets): DirectTargets | undefined {
    if (direct === 'all') return undefined
    if (ExecError.is(this.#error, 'UNSUPPORTED')) return 'all'
    const more = this.placements.filter(({ couldBeDirect }) => couldBeDirect).map(({ target }) => target)
    return more.length === 0 ? undefined : new Set([...direct, ...more])
  }
}

/** What is overwritten keeps its mode, and what is moved takes it along. */
function modeSource(change: Change, { site, target }: { site: Site; target: Site }): PathUri | undefined {
  if (target.found.kind === 'file') return target.real
  return change.kind === 'move' ? site.real : undefined
}
