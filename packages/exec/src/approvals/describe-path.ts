import { DecodeError, type PathUri, toPosixPath } from '@waldo/protocol'

/** The path as people write it there; the URI where there is none, or none that we could write. */
export function describePath(uri: PathUri): string {
  try {
    const path = toPosixPath(uri)
    return typeof path === 'string' ? path : uri
  } catch (error) {
    if (error instanceof DecodeError) return uri
    throw error
  }
}
