import { spawnSync } from 'node:child_process'

const known = new Map<string, boolean>()

/** Whether this `env` can start a program with signals ignored and set back, as GNU's can. Others do not know the words. */
export function hasSignalOptions(env: string): boolean {
  const answer = known.get(env)
  if (answer !== undefined) return answer
  const { status } = spawnSync(env, ['--ignore-signal=INT', '--default-signal=QUIT', 'true'], {
    env: {},
    stdio: 'ignore',
    timeout: 5000,
  })
  known.set(env, status === 0)
  return status === 0
}
