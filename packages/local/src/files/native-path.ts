/** A path as the system has it: text where it is UTF-8, bytes where it is not. `node:fs` takes both. */
export type NativePath = string | Buffer

const SLASH = 0x2f
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function nativePath(path: string | Uint8Array): NativePath {
  if (typeof path === 'string') return path
  const bytes = Buffer.from(path.buffer, path.byteOffset, path.byteLength)
  try {
    return UTF8.decode(bytes)
  } catch {
    return bytes
  }
}

export function joinName(directory: NativePath, name: NativePath): NativePath {
  if (typeof directory === 'string' && typeof name === 'string') {
    return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`
  }
  const parts = [Buffer.from(directory as string), Buffer.from('/'), Buffer.from(name as string)]
  if (parts[0]!.at(-1) === SLASH) parts.splice(1, 1)
  return Buffer.concat(parts)
}

/** The directory that a path is in, and its name there. The name is empty for the root. */
export function splitName(path: NativePath): { directory: NativePath; name: NativePath } {
  const trimmed = withoutTrailingSlashes(path)
  const slash = typeof trimmed === 'string' ? trimmed.lastIndexOf('/') : trimmed.lastIndexOf(SLASH)
  const directory = typeof trimmed === 'string' ? trimmed.slice(0, slash) : trimmed.subarray(0, slash)
  const name = typeof trimmed === 'string' ? trimmed.slice(slash + 1) : trimmed.subarray(slash + 1)
  return { directory: directory.length === 0 ? '/' : nativePath(directory), name: nativePath(name) }
}

/** For messages and for comparing: never to be opened. */
export function displayPath(path: NativePath): string {
  return typeof path === 'string' ? path : path.toString('utf8')
}

function withoutTrailingSlashes(path: NativePath): NativePath {
  if (typeof path === 'string') return path.replace(/\/+$/, '')
  let end = path.length
  while (end > 0 && path[end - 1] === SLASH) end--
  return path.subarray(0, end)
}
