import { ExecError } from '@waldo/environment'
import type { NativePath } from '../files/native-path.ts'
import { bytePath } from './byte-path.ts'
import { type ChangeBatch, ChangeJournal } from './change-journal.ts'
import { DirectoryTree } from './directory-tree.ts'
import { FallbackTree } from './fallback-tree.ts'
import { watchInode } from './inotify.ts'

export interface TreeWatchOptions {
  /** Whether to tell of what is below the directories in the root, too. */
  recursive: boolean
  /** For how long changes are collected before they are told. */
  coalesceMs?: number
}

/**
 * Watches a directory or a file, remembers what happened, and lets a reader continue from any cursor that is still
 * remembered.
 *
 * - Everything in a directory that appears is told as `created`: there is no need to list it.
 * - Links are not followed, except where the root is one. What is mounted later goes unnoticed.
 * - If the root is removed or replaced, that is told, and it is watched again as soon as it is back.
 * - Where not all directories can be watched, every batch says `overflow`, and the others are watched nevertheless.
 *   Opening another watch is the way to try again.
 */
export class TreeWatch {
  readonly #journal: ChangeJournal
  readonly #tree: DirectoryTree | FallbackTree

  /** Resolves when everything is watched: what happens from now on is told. Throws an `ExecError`. */
  static async open(root: NativePath, options: TreeWatchOptions): Promise<TreeWatch> {
    const journal = new ChangeJournal(options.coalesceMs)
    try {
      const path = bytePath(root)
      const tree = new (watchInode ? DirectoryTree : FallbackTree)(path, options.recursive, journal)
      await tree.ready
      return new TreeWatch(journal, tree)
    } catch (error) {
      throw openError(error)
    }
  }

  private constructor(journal: ChangeJournal, tree: DirectoryTree | FallbackTree) {
    this.#journal = journal
    this.#tree = tree
  }

  get cursor(): number {
    return this.#journal.cursor
  }

  /** What happened after `cursor`; overflow if that is not known any more, or never was. */
  since(cursor: number): ChangeBatch {
    const batch = this.#journal.since(cursor)
    return this.#tree.incomplete ? { ...batch, overflow: true } : batch
  }

  /** Called whenever there is more to be read. Returns how to stop that. */
  onChange(listener: () => void): () => void {
    return this.#journal.onChange(listener)
  }

  close(): void {
    this.#tree.close()
    this.#journal.close()
  }
}

function openError(error: unknown): ExecError {
  if (ExecError.is(error)) return error
  const { code, message } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
      return new ExecError('FILE_NOT_FOUND', 'there is nothing to watch at this path', { cause: error })
    case 'EACCES':
    case 'EPERM':
      return new ExecError('FILE_DENIED', 'the executor may not read what it is to watch', { cause: error })
    case 'ENOSPC':
    case 'EMFILE':
      return new ExecError('FILE_FAILED', `too much is watched already; close other watches first (${code})`, {
        cause: error,
      })
    default:
      return new ExecError('FILE_FAILED', message, { cause: error })
  }
}
