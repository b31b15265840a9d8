import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import type { LimitedRun } from './fixtures/run.ts'
import type { Limits } from './limits.ts'

const USER = 'waldo-probe'
const UNIFIED = '/sys/fs/cgroup/unified'
const RUN = join(import.meta.dir, 'fixtures/run.ts')
const BURN = 'while :; do :; done'
const COUNT_FORKS = `
import os, signal
n = 0
try:
  while n < 500:
    if os.fork() == 0: signal.pause()
    n += 1
except OSError: pass
print(n, flush=True)
os.killpg(0, signal.SIGKILL)`

let identity: string[] = []
let ids: { uid: number; gid: number }

before(() => {
  const found = () => new RegExp(`^${USER}:[^:]*:(\\d+):(\\d+)`, 'm').exec(readFileSync('/etc/passwd', 'latin1'))
  assert.equal(process.getuid?.(), 0, 'this becomes an ordinary user, which takes root; type: sudo npm test')
  if (!found()) Bun.spawnSync(['useradd', '-r', '-m', USER])
  const [, uid, gid] = found() ?? assert.fail(`there is no user ${USER}; type: sudo useradd -r -m ${USER}`)
  ids = { uid: Number(uid), gid: Number(gid) }
  identity = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--pdeathsig=KILL']
})

interface Request {
  readonly limits: Limits
  readonly argv: string[]
  readonly sandboxed: boolean
  /** A control group to be in. */
  readonly group?: string
}

async function runAsUser({ group, ...request }: Request): Promise<LimitedRun & { error?: string }> {
  const enter = group === undefined ? [] : ['/bin/sh', '-c', 'echo 0 >"$0"/cgroup.procs && exec "$@"', group]
  const command = [...enter, ...identity, process.execPath, RUN, JSON.stringify(request)]
  const child = Bun.spawn(command, { cwd: '/', env: { PATH: '/usr/bin:/bin' }, stdio: ['ignore', 'pipe', 'inherit'] })
  const answer = await child.stdout.text()
  await child.exited
  return JSON.parse(answer) as LimitedRun & { error?: string }
}

describe('limits of an ordinary user without control groups', () => {
  const shell = (script: string) => ['/bin/sh', '-c', script]

  test('of memory are refused', async () => {
    const { error } = await runAsUser({ limits: { memoryBytes: 1 << 26 }, argv: ['/bin/true'], sandboxed: true })
    assert.match(error!, /^memoryBytes cannot be enforced here: .*; run the server as root, or in a control group/)
  })

  test('of processes are refused without a sandbox', async () => {
    const { error } = await runAsUser({ limits: { processes: 100 }, argv: ['/bin/true'], sandboxed: false })
    assert.match(error!, /^processes cannot be enforced here: .*ask for a sandbox, or run the server as root/)
  })

  test('of processes are for each sandbox, whatever else the user runs', async () => {
    const sleepers = Array.from({ length: 30 }, () => Bun.spawn([...identity, 'sleep', '600']))
    try {
      const request = { limits: { processes: 20 }, argv: ['/usr/bin/python3', '-c', COUNT_FORKS], sandboxed: true }
      const seen = await Promise.all([runAsUser(request), runAsUser(request)])
      assert.deepEqual(
        seen.map(({ stdout }) => stdout),
        ['19\n', '19\n'],
      )
    } finally {
      for (const sleeper of sleepers) sleeper.kill('SIGKILL')
      await Promise.all(sleepers.map(({ exited }) => exited))
    }
  })

  test('of one process let it run', async () => {
    const seen = await runAsUser({ limits: { processes: 1 }, argv: ['/bin/echo', 'runs'], sandboxed: true })
    assert.equal(seen.stdout, 'runs\n')
  })

  for (const sandboxed of [false, true]) {
    const place = sandboxed ? 'in a sandbox' : 'without a sandbox'

    test(`of CPU time end one that burns it, ${place}`, async () => {
      const { hit } = await runAsUser({ limits: { cpuSeconds: 1 }, argv: shell(BURN), sandboxed })
      assert.equal(hit?.kind, 'cpuSeconds')
    })

    test(`of CPU time end many that burn it together, ${place}`, async () => {
      const burnABit = 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'
      const argv = shell(`while :; do /bin/sh -c '${burnABit}'; done & while :; do /bin/sh -c '${burnABit}'; done`)
      const { hit } = await runAsUser({ limits: { cpuSeconds: 1 }, argv, sandboxed })
      assert.equal(hit?.kind, 'cpuSeconds')
    })

    test(`of time and of files hold, ${place}`, async () => {
      const waits = runAsUser({ limits: { wallMs: 300 }, argv: ['/bin/sleep', '600'], sandboxed })
      const writes = runAsUser({
        limits: { fileBytes: 1000 },
        argv: ['/usr/bin/dd', 'if=/dev/zero', 'of=/dev/shm/waldo-limits-test', 'bs=5000', 'count=1'],
        sandboxed,
      })
      try {
        assert.deepEqual([(await waits).hit?.kind, (await writes).hit?.kind], ['wallMs', 'fileBytes'])
      } finally {
        rmSync('/dev/shm/waldo-limits-test', { force: true })
      }
    })
  }
})

describe('limits of an ordinary user with a control group of the second version', {
  skip: existsSync(UNIFIED) ? false : 'not mounted beside the first',
}, () => {
  test('are for all processes together, and end those that hide', async () => {
    const group = join(UNIFIED, `waldo-limits-test-${process.pid}`)
    mkdirSync(group)
    try {
      for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control']) chownSync(join(group, file), ids.uid, ids.gid)
      const unwaited = `trap '' CHLD; while :; do (setsid timeout 0.1 /bin/sh -c '${BURN}' &); sleep 0.05; done`
      const argv = ['/bin/sh', '-c', unwaited]
      const { hit } = await runAsUser({ limits: { cpuSeconds: 1 }, argv, sandboxed: false, group })
      assert.equal(hit?.kind, 'cpuSeconds')
      assert.equal(readFileSync(join(group, 'cgroup.stat'), 'latin1').split('\n')[0], 'nr_descendants 0')
      assert.equal(readFileSync(join(group, 'cgroup.procs'), 'latin1'), '')
    } finally {
      rmdirSync(group)
    }
  })
})
