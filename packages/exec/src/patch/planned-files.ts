import { conventionOf, type PathUri, parent } from '@waldo/protocol'
import { applyHunks } from './apply-hunks.ts'
import type { SearchEffort } from './find-lines.ts'
import { withLazyDiff } from './lazy-diff.ts'
import type { Section, UpdateSection } from './patch.ts'
import { PatchError } from './patch-error.ts'
import type { Site } from './survey.ts'
import { unifiedDiff } from './unified-diff.ts'
import type { Change } from './verified-patch.ts'

interface Place {
  /** As the patch writes it. */
  readonly name: string
  readonly site: Site
}

/** What a file is to become, with everything that the patch has said about it so far. */
interface Plan extends Place {
  readonly kind: 'add' | 'update' | 'delete' | 'move'
  /** Undefined: it is to go. */
  readonly after: Uint8Array | undefined
  /** Of a move. */
  readonly to?: Place
}

/**
 * The files as the patch leaves them, section by section. Several sections about one file add up: it can be updated
 * again and again, also after it was added, and what was deleted can be added anew. Anything else about a file that
 * was mentioned before contradicts itself, and is refused.
 */
export class PlannedFiles {
  readonly #siteOf: (name: string) => Site
  /** By where the path leads to, in the order of the patch. */
  readonly #plans = new Map<string, Plan>()
  /** Where moves lead to, and what could not be planned: nothing more can be said about it. */
  readonly #settled = new Map<string, string>()

  constructor(siteOf: (name: string) => Site) {
    this.#siteOf = siteOf
  }

  plan(section: Section, effort: SearchEffort): void {
    const site = this.#siteOf(section.path)
    const key = keyOf(site.real)
    try {
      const planned = this.#planned(section, site, effort)
      if (planned.to) this.#settled.set(keyOf(planned.to.site.real), 'another file is moved there')
      this.#plans.set(key, planned)
    } catch (error) {
      // What comes after it in the patch would only fail because of it.
      this.#settled.set(key, 'an earlier section about it has failed')
      throw error
    }
  }

  changes(): Change[] {
    this.#requireNoFileIsADirectory()
    return [...this.#plans.values()].map(changeOf)
  }

  #planned(section: Section, site: Site, effort: SearchEffort): Plan {
    const name = section.path
    const earlier = this.#plans.get(keyOf(site.real))
    this.#requireOpen(site, section)
    switch (section.kind) {
      case 'add': {
        if (earlier && earlier.kind !== 'delete') throw contradiction(section, `it is ${PAST[earlier.kind]} before`)
        if (site.found.kind !== 'missing') contentOf(site, 'add', name)
        const after = new TextEncoder().encode(section.content.map((line) => `${line}\n`).join(''))
        return { name, site, kind: earlier ? 'update' : 'add', after }
      }
      case 'delete':
        if (earlier) throw contradiction(section, `it is ${PAST[earlier.kind]} before`)
        contentOf(site, 'delete', name)
        return { name, site, kind: 'delete', after: undefined }
      case 'update':
        return this.#updated(section, site, { earlier, effort })
    }
  }

  #updated(
    section: UpdateSection,
    site: Site,
    { earlier, effort }: { earlier: Plan | undefined; effort: SearchEffort },
  ): Plan {
    const { path: name, moveTo, hunks } = section
    if (earlier?.kind === 'delete' || earlier?.kind === 'move') {
      throw contradiction(section, `it is ${PAST[earlier.kind]} before`)
    }
    const before = earlier?.after ?? contentOf(site, 'update', name)
    const after = applyHunks(before, hunks, { name, effort })
    const target = moveTo === undefined ? undefined : this.#siteOf(moveTo)
    if (moveTo === undefined || !target || keyOf(target.real) === keyOf(site.real)) {
      return { name, site, kind: earlier?.kind ?? 'update', after }
    }
    if (earlier) throw contradiction(section, `it is ${PAST[earlier.kind]} before, and moved only now`)
    const other = this.#plans.get(keyOf(target.real))
    if (other) throw contradiction(section, `${moveTo} is ${PAST[other.kind]} before`)
    this.#requireOpen(target, section)
    if (target.found.kind !== 'missing') contentOf(target, 'move to', moveTo)
    return { name, site, kind: 'move', after, to: { name: moveTo, site: target } }
  }

  #requireOpen({ real }: Site, section: Section): void {
    const reason = this.#settled.get(keyOf(real))
    if (reason !== undefined) throw contradiction(section, reason)
  }

  /** One cannot take the other's place while all of them change at once. */
  #requireNoFileIsADirectory(): void {
    const places = [...this.#plans.values()].flatMap((plan) => [plan, ...(plan.to ? [plan.to] : [])])
    const names = new Map(places.map(({ site, name }) => [keyOf(site.real), name]))
    for (const { site, name } of places) {
      for (let at = parent(site.real); at !== undefined; at = parent(at)) {
        const file = names.get(keyOf(at))
        if (file === undefined) continue
        throw new PatchError('MISMATCH', `${file} cannot be a file and the directory of ${name}: use two patches`)
      }
    }
  }
}

const PAST = { add: 'added', update: 'updated', delete: 'deleted', move: 'moved' } as const

/** Windows does not tell letters by their case. */
function keyOf(path: PathUri): string {
  return conventionOf(path) === 'windows' ? path.toLowerCase() : path
}

function contentOf({ found, real }: Site, purpose: string, name: string): Uint8Array {
  const failed = `Failed to ${purpose} ${name}`
  switch (found.kind) {
    case 'file':
      return found.content
    case 'missing':
      throw new PatchError('MISMATCH', `${failed}: there is no such file (${real})`)
    case 'directory':
      throw new PatchError('MISMATCH', `${failed}: it is a directory`)
    case 'link':
      // Written through, it would land where nobody has looked; replaced, it would not be a link any more.
      throw new PatchError('MISMATCH', `${failed}: it is a symbolic link; name the file that it leads to`)
    case 'other':
      throw new PatchError('MISMATCH', `${failed}: it is not a regular file`)
    case 'unknown':
      throw new PatchError('MISMATCH', `${failed}: ${found.error.message}`, { cause: found.error })
  }
}

function changeOf({ name, site, kind, after, to }: Plan): Change {
  const shared = { name, path: site.path }
  const updatedDiff = () => unifiedDiff(fileAt(site), after, { from: name, to: name })
  switch (kind) {
    case 'add':
      return withLazyDiff({ ...shared, kind, after: after! }, () => placedDiff({ name, site }, after!))
    case 'update':
      return withLazyDiff({ ...shared, kind, after: after! }, updatedDiff)
    case 'delete':
      return withLazyDiff({ ...shared, kind }, updatedDiff)
    case 'move': {
      const target = { toName: to!.name, to: to!.site.path }
      return withLazyDiff({ ...shared, ...target, kind, after: after! }, () => placedDiff(to!, after!))
    }
  }
}

function fileAt({ found }: Site): Uint8Array | undefined {
  return found.kind === 'file' ? found.content : undefined
}

/** Of something that comes to a place: all of what lands there, and all of what it replaces. */
function placedDiff({ name, site }: Place, after: Uint8Array): string {
  const overwritten = fileAt(site)
  const diff = unifiedDiff(overwritten, after, { from: name, to: name })
  return overwritten ? `overwrites ${name}\n${diff}` : diff
}

function contradiction(section: Section, reason: string): PatchError {
  return new PatchError(
    'MISMATCH',
    `multiple operations target ${section.path} (line ${section.line} of the patch): ${reason}`,
  )
}
