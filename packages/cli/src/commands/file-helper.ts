import { replaceProcess, restrictWrites } from '@waldo/sandbox/linux'
import { serveFileHelper, WRITABLE_PATHS } from '@waldo/server/file-helper'
import { ownCommand } from '../own-command.ts'

/**
 * What a server starts for work on files that may hang, run away or see only a part of this machine. It ends with its
 * input. Not for people.
 */
export async function fileHelperCommand(): Promise<number> {
  const { [WRITABLE_PATHS]: paths, PATH = '' } = process.env
  // Threads that this process has already are not restricted with it, but those of its successor are.
  if (paths !== undefined && restrictWrites(JSON.parse(paths)))
    replaceProcess([...ownCommand(), 'file-helper'], { PATH })
  await serveFileHelper()
  return 0
}
