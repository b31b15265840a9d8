import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Whose rights the server has. Root and everybody else find different holes. */
export interface Account {
  readonly title: string
  readonly name: string
  readonly uid: number
  readonly gid: number
}

const ORDINARY = 'waldo-probe'

export const ACCOUNTS = ['root', 'an ordinary user'] as const

export function openAccount(title: (typeof ACCOUNTS)[number]): Account {
  if (process.getuid?.() !== 0) {
    throw new Error('the probes start servers as two accounts, which takes root; type: sudo npm test')
  }
  if (title === 'root') return { title, name: 'root', uid: 0, gid: 0 }
  if (!findAccount(ORDINARY)) spawnSync('useradd', ['-r', '-m', ORDINARY])
  const found = findAccount(ORDINARY)
  if (!found) throw new Error(`there is no user ${ORDINARY}; type: sudo useradd -r -m ${ORDINARY}`)
  return { title, name: ORDINARY, ...found }
}

function findAccount(name: string): { uid: number; gid: number } | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`))
  if (!line) return undefined
  const [, , uid, gid] = line.split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

/** Put in front of a command line: runs it as the account, and ends it when we end, however we end. */
export function become({ uid, gid }: Account): string[] {
  const identity = uid === 0 ? [] : [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  return ['setpriv', '--pdeathsig=KILL', ...identity]
}
