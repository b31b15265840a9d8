import { realpathSync } from 'node:fs'
import { errorCode, fileError } from './file-error.ts'
import { joinName, type NativePath, nativePath, splitName } from './native-path.ts'

/** Without symbolic links, as far as the path exists. */
export function realPath(path: NativePath): NativePath {
  try {
    return nativePath(realpathSync.native(path, { encoding: 'buffer' }))
  } catch (error) {
    const { directory, name } = splitName(path)
    if (errorCode(error) !== 'ENOENT' || name.length === 0) throw fileError(error, path)
    return joinName(realPath(directory), name)
  }
}
