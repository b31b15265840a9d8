import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import type { StateDirectory } from './report.ts'

/** Whether a server can keep there what is nobody else's business. Makes it, as a server does. */
export function checkStateDirectory(path: string): StateDirectory {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    return {
      path,
      isWritable: false,
      isPrivate: false,
      reason: (error as Error).message.replace(/, \w+ '.*$/s, ''),
      remedy: 'set HOME or XDG_STATE_HOME to a directory that can be written to, or say waldo serve --state-dir DIR',
    }
  }
  const { uid, mode } = statSync(path)
  if (uid !== process.getuid?.()) {
    const remedy = `sudo chown -R ${process.getuid?.()} ${path}`
    return { path, isWritable: true, isPrivate: false, reason: 'it belongs to somebody else', remedy }
  }
  if ((mode & 0o077) !== 0) {
    const reason = `others can look into it (mode ${(mode & 0o777).toString(8)})`
    return { path, isWritable: true, isPrivate: false, reason, remedy: `chmod 700 ${path}` }
  }
  return { path, isWritable: true, isPrivate: true }
}
