import { serveFileHelper } from '@waldo/server/file-helper'

/**
 * What a server starts for work on files that may hang, run away or see only a part of this machine. It ends with its
 * input. Not for people.
 */
export async function fileHelperCommand(): Promise<number> {
  await serveFileHelper()
  return 0
}
