import { closeSync, constants, fstatSync, openSync, promises } from 'node:fs'
import { startWriteback } from './file-calls.ts'
import type { NativePath } from './native-path.ts'

/** A file that is written again within this time goes to the disk once. */
const DELAY_MS = 250
const MAX_FILES = 1024
/** Starting to write more than this takes long enough to be somebody else's work. */
const LARGE_BYTES = 1024 * 1024

/**
 * New content must not stay in memory alone for long: a file system that loses power keeps names sooner than content,
 * and would keep the new name of an empty file. It sees to that itself when a name is replaced, while everybody waits;
 * but we exchange names, which it does not, and see to it a moment later.
 */
const files = new Map<string, NativePath>()
let timer: ReturnType<typeof setTimeout> | undefined
/** One at a time: the threads are few, and for everybody. Whoever wrote has gone on; the system logs what fails. */
let syncing: Promise<void> = Promise.resolve()

export function writeBackSoon(path: NativePath): void {
  files.set(String(path), path)
  if (files.size >= MAX_FILES) writeBack()
  else {
    timer ??= setTimeout(writeBack, DELAY_MS)
    timer.unref()
  }
}

function writeBack(): void {
  clearTimeout(timer)
  timer = undefined
  const paths = [...files.values()]
  files.clear()
  for (const path of paths) {
    try {
      start(path)
    } catch {
      // Replaced or removed meanwhile: then there is nothing left to write.
    }
  }
}

function start(path: NativePath): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY)
  try {
    const { size } = fstatSync(fd)
    if (size > LARGE_BYTES) syncing = syncing.then(() => syncElsewhere(path)).catch(() => {})
    else startWriteback(fd)
  } finally {
    closeSync(fd)
  }
}

async function syncElsewhere(path: NativePath): Promise<void> {
  const handle = await promises.open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  await handle.datasync().finally(() => handle.close())
}
