import { chmodSync, lstatSync, unlinkSync } from 'node:fs'
import { ListenError } from './listen-error.ts'

/** Calls `listen`, which makes the file, such that the socket is for this user alone from the first moment on. */
export async function listenOnSocketFile<T>(
  path: string,
  listen: () => T,
): Promise<{ listener: T; remove: () => void }> {
  await removeStale(path)
  const umask = process.umask(0o177)
  let listener: T
  try {
    listener = listen()
  } finally {
    process.umask(umask)
  }
  chmodSync(path, 0o600)
  const { ino } = lstatSync(path)
  return {
    listener,
    remove() {
      // By now the file may be another server's.
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) unlinkSync(path)
    },
  }
}

/** A socket file stays behind when its server is killed. One that somebody answers on is theirs. */
async function removeStale(path: string): Promise<void> {
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (!there) return
  if (!there.isSocket()) throw new ListenError(`cannot listen on ${path}: the file exists and is no socket`)
  const answered = await Bun.connect({ unix: path, socket: { data() {} } }).then(
    (socket) => {
      socket.end()
      return true
    },
    () => false,
  )
  if (answered) throw new ListenError(`cannot listen on ${path}: another server is listening there`)
  unlinkSync(path)
}
