import { closeSync, constants, openSync, type Stats } from 'node:fs'
import { ExecError } from '@waldo/environment'
import { toByteString, toNativePath } from '../byte-string.ts'
import { describe } from '../files/file-error.ts'
import { Turns } from '../turns.ts'
import { Excerpts } from './excerpts.ts'
import type { LinePattern } from './line-pattern.ts'
import { RipgrepProcess } from './ripgrep-process.ts'
import type { SearchEvent } from './search-event.ts'
import { inspectFile, readTextFile, type SkippedFile, type TextFile } from './text-file.ts'
import type { WalkEntry, WalkError } from './walk.ts'

/** What one run gets. Command lines are limited, on some systems to 1 MiB, and so are descriptors. */
const MAX_BATCH_ITEMS = 2000
const MAX_BATCH_BYTES = 128 * 1024
const MAX_BATCH_DESCRIPTORS = 64

type Entries = Iterator<WalkEntry | WalkError | undefined>

interface Batch {
  readonly items: readonly (TextFile | SkippedFile | WalkError)[]
  readonly last: boolean
}

/**
 * Lets ripgrep search, and nothing else: which files, in which order, and what is binary we say ourselves, and what is
 * shown of a line we read ourselves. So the answers are those of `searchInProcess`.
 */
export async function* searchWithRipgrep(
  entries: Entries,
  pattern: LinePattern,
  program: string,
  signal: AbortSignal,
): AsyncGenerator<SearchEvent> {
  const stop = new AbortController()
  const turns = new Turns(AbortSignal.any([signal, stop.signal]))
  let next = gather(entries, turns)
  try {
    for (;;) {
      const batch = await next
      // While ripgrep searches these files, we walk on to the next. Should that fail, the next turn of this loop sees it.
      if (!batch.last) next = gather(entries, turns)
      next.catch(() => {})
      yield* searchBatch(batch, pattern, program, { turns, signal })
      if (batch.last) return
    }
  } finally {
    stop.abort()
    await next.catch(() => {})
  }
}

async function gather(entries: Entries, turns: Turns): Promise<Batch> {
  const items: Batch['items'][number][] = []
  let bytes = 0
  let descriptors = 0
  while (items.length < MAX_BATCH_ITEMS && bytes < MAX_BATCH_BYTES && descriptors < MAX_BATCH_DESCRIPTORS) {
    const pause = turns.over()
    if (pause) await pause
    const { done, value } = entries.next()
    if (done) return { items, last: true }
    const item = value?.kind === 'file' ? inspectFile(value) : value
    if (item?.kind !== 'text' && item?.kind !== 'skipped' && item?.kind !== 'error') continue
    items.push(item)
    if (item.kind !== 'text') continue
    bytes += item.path.length
    if (typeof toNativePath(item.path) !== 'string') descriptors++
  }
  return { items, last: false }
}

async function* searchBatch(
  batch: Batch,
  pattern: LinePattern,
  program: string,
  { turns, signal }: { turns: Turns; signal: AbortSignal },
): AsyncGenerator<SearchEvent> {
  const { items, names, run } = start(batch, pattern, program)
  const kill = () => run?.kill()
  signal.addEventListener('abort', kill, { once: true })
  let at = 0
  let shown: Excerpts | WalkError | undefined
  try {
    for await (const { name, line, column } of run?.records() ?? []) {
      const pause = turns.over()
      if (pause) await pause
      for (; names[at] !== name; at++) {
        const item = items[at]
        if (!item) throw new ExecError('FILE_FAILED', 'ripgrep does not answer in the order that it was asked in')
        if (item.kind !== 'text') yield item
        shown = undefined
      }
      const file = items[at] as TextFile
      const known = shown
      shown ??= reread(file)
      if (shown instanceof Excerpts) {
        yield { kind: 'found', path: file.path, relative: file.relative, line, column, excerpts: shown }
      } else if (!known) yield shown
    }
    signal.throwIfAborted()
    for (; at < items.length; at++) {
      const item = items[at]!
      if (item.kind !== 'text') yield item
    }
    for (const complaint of (await run?.complaints()) ?? []) yield toError(complaint, items, names)
  } finally {
    signal.removeEventListener('abort', kill)
    await run?.end()
  }
}

/** `names` are what the files are called in the run; there is none where there is nothing to search. */
function start(batch: Batch, pattern: LinePattern, program: string) {
  const descriptors: number[] = []
  const args: string[] = []
  const names: (string | undefined)[] = []
  try {
    const items = batch.items.map((item) => {
      let arg: string | undefined
      try {
        if (item.kind === 'text') arg = argument(item, descriptors)
      } catch (error) {
        return { kind: 'error' as const, path: (item as TextFile).path, message: describe(error) }
      } finally {
        names.push(arg === undefined ? undefined : toByteString(arg))
        if (arg !== undefined) args.push(arg)
      }
      return item
    })
    const run = args.length > 0 ? new RipgrepProcess(program, pattern, args, descriptors) : undefined
    return { items, names, run }
  } finally {
    for (const fd of descriptors) closeSync(fd)
  }
}

/** Arguments are text. What has a name that is not is passed on as a descriptor, whose name is. */
function argument(file: TextFile, descriptors: number[]): string {
  const path = toNativePath(file.path)
  if (typeof path === 'string') return path
  const follow = file.relative === '' ? 0 : constants.O_NOFOLLOW
  descriptors.push(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | follow))
  return `/dev/fd/${descriptors.length + 2}`
}

/** The lines of a file that ripgrep has searched, if they are still those that it saw. */
function reread(file: TextFile): Excerpts | WalkError {
  const now = readTextFile(file)
  if (now?.kind === 'error') return now
  if (now?.kind === 'read' && isSame(file.stat, now.stat)) return new Excerpts(now.bytes)
  return { kind: 'error', path: file.path, message: 'it changed while it was searched: search it again' }
}

/** A file that has grown counts as the same: a log that is being written would never stand still. */
function isSame(before: Stats, now: Stats): boolean {
  if (before.ino !== now.ino || before.dev !== now.dev) return false
  return now.size > before.size || (now.size === before.size && now.mtimeMs === before.mtimeMs)
}

/** A file that ripgrep could not read is one error among others. Anything else that it complains about is a failure. */
function toError(complaint: string, items: Batch['items'], names: readonly (string | undefined)[]): WalkError {
  const index = names.findIndex((name) => name !== undefined && complaint.includes(name))
  if (index < 0) throw new ExecError('FILE_FAILED', `ripgrep failed: ${complaint}`)
  return { kind: 'error', path: (items[index] as TextFile).path, message: complaint }
}
