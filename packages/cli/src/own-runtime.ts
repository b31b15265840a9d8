import { homedir } from 'node:os'
import { join } from 'node:path'
import type { RuntimePaths } from '@waldo/environment'
import { ownCommand } from './own-command.ts'

/** How the executor of this machine starts more of itself: the compiled file, or the script that runs the sources. */
export function ownRuntime(): RuntimePaths {
  const [program, ...args] = ownCommand()
  const { XDG_STATE_HOME, HOME } = process.env
  const state = XDG_STATE_HOME?.startsWith('/') ? XDG_STATE_HOME : join(HOME || homedir(), '.local/state')
  return {
    executable: args.length === 0 ? program! : join(import.meta.dir, '../../../waldo'),
    stateDir: join(state, 'waldo'),
  }
}
