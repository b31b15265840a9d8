import {
  baseName,
  conventionOf,
  fromPosixPath,
  joinPath,
  type PathUri,
  toPosixBytes,
  toPosixPath,
} from '@waldo/protocol'

const SLASH = 0x2f

/** The path in `directory` that has the name of `other`, whatever bytes that is made of. */
export function sameNameIn(directory: PathUri, other: PathUri): PathUri {
  if (conventionOf(directory) !== 'posix' || conventionOf(other) !== 'posix') {
    return joinPath(directory, baseName(other) ?? '')
  }
  const path = trimmed(toPosixBytes(other))
  const name = path.subarray(path.lastIndexOf(SLASH) + 1)
  const above = trimmed(toPosixBytes(directory))
  return fromPosixPath(Uint8Array.from([...above, SLASH, ...name]))
}

/** For people. */
export function displayPath(path: PathUri): string {
  if (conventionOf(path) !== 'posix') return path
  const native = toPosixPath(path)
  return typeof native === 'string' ? native : new TextDecoder().decode(native)
}

function trimmed(path: Uint8Array): Uint8Array {
  let end = path.length
  while (end > 0 && path[end - 1] === SLASH) end--
  return path.subarray(0, end)
}
