import { ExecError, type FileOptions, type FileSystem } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { CommitAttempt, type DirectTargets } from './commit-attempt.ts'
import { PatchError } from './patch-error.ts'
import { PatchedFiles } from './patched-files.ts'
import { remains } from './remains.ts'
import { sameBytes } from './same-bytes.ts'
import { successText } from './summary.ts'
import { type Site, survey } from './survey.ts'
import type { VerifiedPatch } from './verified-patch.ts'

export interface CommitOptions extends FileOptions {
  readonly files: FileSystem
}

/** A patch that has been written, all of it. */
export interface Committed {
  readonly text: string
  /** Files of ours (`.waldo-patch-….tmp`) that could not be removed. Almost always none. */
  readonly leftBehind: readonly PathUri[]
}

/**
 * Writes a verified patch: all of it or nothing. The new contents are written beside their targets and then renamed,
 * all of them at once, in a handful of round trips for any number of files. A cut wire is waited out, and what it left
 * in doubt is looked up. If something fails, what was there is restored and `FAILED` thrown; if even that fails,
 * `PARTIAL`, which says what is where. A harness that is killed in between may leave files `.waldo-patch-….tmp`.
 *
 * Modes are kept. A file that is replaced is a new one for the system: other names of it (hard links) keep the old
 * content, and access lists stay with that. Where nothing can be renamed, files are written to directly.
 *
 * The signal is heeded until the first file changes. Nothing is left half done because of it.
 */
export async function commitPatch(verified: VerifiedPatch, options: CommitOptions): Promise<Committed> {
  const { signal, sandbox } = options
  const files = new PatchedFiles(options.files, sandbox)
  let direct: DirectTargets = new Set<PathUri>()
  for (;;) {
    await requireUnchanged(verified, options)
    const attempt: CommitAttempt = new CommitAttempt(files, verified, direct)
    try {
      await attempt.run(signal)
    } catch (error) {
      await undo(attempt, files, error)
      const instead: DirectTargets | undefined = signal?.aborted ? undefined : attempt.directInstead(direct)
      if (!instead) throw failed(error, signal)
      direct = instead
      continue
    }
    const leftBehind = await attempt.finish()
    return { text: successText(verified.changes), leftBehind }
  }
}

async function requireUnchanged(
  { sites, cwd }: VerifiedPatch,
  { files, sandbox, signal }: CommitOptions,
): Promise<void> {
  const { sites: now } = await survey([...sites.keys()], { files, sandbox, signal, cwd, homes: [] })
  const changed = [...sites].filter(([path, site]) => !isSame(site, now.get(path)!)).map(([, { path }]) => path)
  if (changed.length === 0) return
  throw new PatchError(
    'STALE',
    `changed since the patch was verified: ${changed.join(', ')}. Nothing was written; read again and make a new patch`,
  )
}

function isSame(site: Site, now: Site): boolean {
  if (site.real !== now.real || site.found.kind !== now.found.kind) return false
  if (site.found.kind !== 'file' || now.found.kind !== 'file') return true
  return site.found.mode === now.found.mode && sameBytes(site.found.content, now.found.content)
}

async function undo(attempt: CommitAttempt, files: PatchedFiles, reason: unknown): Promise<void> {
  try {
    await attempt.undo()
  } catch (error) {
    const text = await remains(attempt, files)
    throw new PatchError(
      'PARTIAL',
      `the patch could not be written (${messageOf(reason)}), and not all of it be undone (${messageOf(error)}).\n${text}`,
      { cause: reason },
    )
  }
}

function failed(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted && error === signal.reason) return error
  if (!ExecError.is(error)) return error
  return new PatchError('FAILED', `the patch was not written, and nothing has changed: ${error.message}`, {
    cause: error,
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
