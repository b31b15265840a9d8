import { ExecError } from '@waldo/environment'
import { displayPath, type NativePath } from '@waldo/local/files'

/**
 * The same path as rules know it, which go by names: each of them has to be one. What goes up from something that is a
 * link, or is not there yet, can be anywhere: that is refused.
 */
export function plainPath(path: NativePath): NativePath {
  const text = typeof path === 'string' ? path : path.toString('latin1')
  const names = text.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) {
    throw new ExecError('FILE_INVALID', `a path in a sandbox must not go up with \`..\`: ${displayPath(path)}`)
  }
  const joined = `/${names.join('/')}`
  return typeof path === 'string' ? joined : Buffer.from(joined, 'latin1')
}
