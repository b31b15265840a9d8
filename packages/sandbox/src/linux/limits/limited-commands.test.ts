import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { isAlive } from '@waldo/testkit'
import type { GroupParent } from './cgroup/group-parent.ts'
import { runLimited } from './fixtures/run.ts'
import { LimitError } from './limits.ts'
import { prepareLimits } from './prepare-limits.ts'
import { type LimitMeans, probeLimits } from './probe-limits.ts'

const membership = readFileSync('/proc/self/cgroup', 'latin1')
const mountinfo = readFileSync('/proc/self/mountinfo', 'latin1')
const MEGABYTE = 1 << 20

const python = (...lines: string[]) => ['/usr/bin/python3', '-c', lines.join('\n')]
const shell = (script: string) => ['/bin/sh', '-c', script]
const BURN = 'while :; do :; done'
const BOMB = python(
  'import os, signal',
  'n = 0',
  'try:',
  '  while n < 500:',
  '    if os.fork() == 0: signal.pause()',
  '    n += 1',
  'except OSError: pass',
  'print(n, flush=True)',
  'os.killpg(0, signal.SIGKILL)',
)
const HOG = python('x = bytearray(200_000_000)', 'print("got it")')

const parentsIn = ({ of, killing }: LimitMeans): GroupParent[] =>
  [...Object.values(of).flatMap((way) => ('parent' in way ? [way.parent] : [])), killing].filter((parent) => !!parent)

function groupsOf(pid: number, means = probeLimits()): string[] {
  return parentsIn(means).flatMap(({ path }) =>
    readdirSync(path)
      .filter((name) => name.startsWith(`waldo-${pid}-`))
      .map((name) => join(path, name)),
  )
}

before(() => {
  assert.equal(process.getuid?.(), 0, 'control groups are made here, which takes root; type: sudo npm test')
})

for (const sandboxed of [false, true]) {
  describe(`limits, ${sandboxed ? 'in' : 'without'} a sandbox`, () => {
    const run = (limits: Parameters<typeof runLimited>[0], argv: string[]) => runLimited(limits, argv, { sandboxed })

    test('that are not reached change nothing', async () => {
      const limits = {
        wallMs: 60_000,
        cpuSeconds: 60,
        memoryBytes: 512 * MEGABYTE,
        processes: 100,
        fileBytes: MEGABYTE,
      }
      const seen = await run(limits, [
        ...shell('printf "%s|" "$@"; ulimit -c; ulimit -St; exit 7'),
        'name',
        'a b',
        `"'$x`,
        '*',
      ])
      assert.deepEqual(seen, { stdout: `a b|"'$x|*|0\n61\n`, stderr: '', exitCode: 7, signal: null, hit: undefined })
    })

    test('of processes are as many as asked for, and are reported', async () => {
      const { stdout, hit } = await run({ processes: 50 }, BOMB)
      assert.equal(stdout, '49\n')
      assert.equal(hit?.kind, 'processes')
    })

    test('of one process let it run, but start nobody', async () => {
      assert.deepEqual(await run({ processes: 1 }, ['/bin/echo', 'runs']), {
        ...{ stdout: 'runs\n', stderr: '', exitCode: 0, signal: null, hit: undefined },
      })
      assert.equal((await run({ processes: 1 }, BOMB)).stdout, '0\n')
    })

    test('of memory end who needs more, and are reported', async () => {
      const { stdout, hit } = await run({ memoryBytes: 64 * MEGABYTE }, HOG)
      assert.equal(stdout, '')
      assert.equal(hit?.kind, 'memoryBytes')
    })

    test('of memory end everybody, whoever needs it', async () => {
      const { stdout, hit } = await run({ memoryBytes: 64 * MEGABYTE }, [
        ...shell('"$@"; sleep 60; echo went on'),
        'name',
        ...HOG,
      ])
      assert.equal(stdout, '')
      assert.equal(hit?.kind, 'memoryBytes')
    })

    test('of memory count what is kept in memory file systems', async () => {
      const directory = mkdtempSync('/dev/shm/waldo-')
      try {
        const fill = shell('mkdir -p "$0"; head -c 200000000 /dev/zero >"$0"/x; echo $?')
        const { stdout, hit } = await run({ memoryBytes: 64 * MEGABYTE }, [...fill, directory])
        assert.notEqual(stdout, '0\n')
        assert.equal(hit?.kind, 'memoryBytes')
      } finally {
        rmSync(directory, { recursive: true })
      }
    })

    test('of CPU time end who burns it, and are reported', async () => {
      const { hit } = await run({ cpuSeconds: 1 }, shell(BURN))
      assert.equal(hit?.kind, 'cpuSeconds')
    })

    test('of CPU time are for all processes together, also those that nobody waits for', async () => {
      const burners = python(
        'import os, signal, time',
        'signal.signal(signal.SIGCHLD, signal.SIG_IGN)',
        'while True:',
        '  if os.fork() == 0:',
        '    while time.process_time() < 0.05: pass',
        '    os._exit(0)',
        '  time.sleep(0.05)',
      )
      assert.equal((await run({ cpuSeconds: 1 }, burners)).hit?.kind, 'cpuSeconds')
    })

    test('of the size of a file hold to the byte, and are reported', async () => {
      const { stdout } = await run(
        { fileBytes: 1000 },
        shell('cd /dev/shm; head -c 5000 /dev/zero >$$; wc -c <$$; rm $$'),
      )
      assert.equal(stdout, '1000\n')
      const grow =
        'f=/dev/shm/$$; trap "rm -f $f" EXIT; dd if=/dev/zero of=$f bs=5000 count=1; code=$?; rm $f; exit $code'
      assert.equal((await run({ fileBytes: 1024 }, shell(grow))).hit?.kind, 'fileBytes')
    })

    test('of time end who takes longer, and are reported', async () => {
      const { hit } = await run({ wallMs: 200 }, shell('sleep 600 & sleep 600'))
      assert.deepEqual(hit, { kind: 'wallMs', detail: 'it was still running after 200 ms' })
    })

    test('of many commands at once leave nothing behind', async () => {
      const means = probeLimits()
      const limits = { processes: 20, memoryBytes: 256 * MEGABYTE, cpuSeconds: 30, wallMs: 50_000 }
      const runs = Array.from({ length: 24 }, () => runLimited(limits, BOMB, { sandboxed, means }))
      assert.deepEqual(new Set((await Promise.all(runs)).map(({ stdout }) => stdout)), new Set(['19\n']))
      assert.deepEqual(groupsOf(process.pid), [])
      const open = spawnSync('ls', ['-l', `/proc/${process.pid}/fd`]).stdout.toString()
      assert.doesNotMatch(open, /cgroup/)
    })
  })
}

describe('limits', () => {
  /** As on a system that has the first version of control groups only. */
  const firstOnly = () =>
    probeLimits({
      membership,
      mountinfo: mountinfo
        .split('\n')
        .filter((line) => !line.includes(' - cgroup2 '))
        .join('\n'),
    })

  test('of all kinds share a group where the controllers share a tree', () => {
    const tree = mkdtempSync(join(tmpdir(), 'waldo-tree-'))
    try {
      const { of } = probeLimits({
        mountinfo: `31 24 0:27 / ${tree} rw - cgroup cgroup rw,cpuacct,memory,pids\n`,
        membership: '4:cpuacct,memory,pids:/\n',
      })
      const parents = [of.memoryBytes, of.processes, of.cpuSeconds].map((way) => 'parent' in way && way.parent)
      assert.equal(new Set(parents).size, 1)
    } finally {
      rmdirSync(tree)
    }
  })

  test('hold with the first version of control groups alone', async () => {
    const means = firstOnly()
    assert.equal(means.of.cpuSeconds.by, 'cgroup1')
    assert.equal((await runLimited({ cpuSeconds: 1 }, shell(`${BURN} & ${BURN}`), { means })).hit?.kind, 'cpuSeconds')
    assert.equal((await runLimited({ memoryBytes: 64 * MEGABYTE }, HOG, { means })).hit?.kind, 'memoryBytes')
    assert.deepEqual(groupsOf(process.pid, means), [])
  })

  for (const [title, means] of [['and with the first version alone', firstOnly] as const, ['', probeLimits] as const]) {
    test(`end those who keep starting others and hide from their parents ${title}`, async () => {
      const spawners = python(
        'import os, time',
        'for i in range(20): os.fork()',
        'while True:',
        '  try:',
        '    if os.fork(): os._exit(0)',
        '    os.setsid()',
        '  except OSError: time.sleep(0.001)',
      )
      const seen = await runLimited(
        { processes: 100, wallMs: 500 },
        [...shell('"$@"; sleep 60'), 'name', ...spawners],
        {
          means: means(),
        },
      )
      assert.equal(seen.hit?.kind, 'wallMs')
      assert.deepEqual(groupsOf(process.pid), [])
    })
  }

  test('end with their release who has outlived the command', async () => {
    const { stdout } = await runLimited({ processes: 10 }, shell('setsid sleep 600 >/dev/null 2>&1 & echo $!'))
    assert.equal(isAlive(Number(stdout)), false)
  })

  test('that are killed before they are reached are not reported', async () => {
    const prepared = prepareLimits({ processes: 10, memoryBytes: 512 * MEGABYTE }, probeLimits(), { sandboxed: false })
    const child = Bun.spawn(prepared.wrap(['/bin/sh', '-c', 'echo; while :; do /bin/true; done']), {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    await child.stdout.getReader().read()
    prepared.kill()
    await child.exited
    assert.equal(prepared.hit({ exitCode: child.exitCode, signal: child.signalCode }), undefined)
    await Promise.all([prepared.release(), prepared.release()])
    assert.deepEqual(groupsOf(process.pid), [])
  })

  test('that cannot be set keep the command from running', async () => {
    const means = probeLimits()
    const prepared = prepareLimits({ processes: 10 }, means, { sandboxed: false })
    for (const path of new Set(groupsOf(process.pid, means))) rmdirSync(path)
    const child = Bun.spawn(prepared.wrap(['/bin/echo', 'runs']), { stdio: ['ignore', 'pipe', 'pipe'] })
    assert.equal(await child.stdout.text(), '')
    assert.match(await child.stderr.text(), /waldo: the limits could not be set, so the command was not run/)
    assert.equal(await child.exited, 126)
    await prepared.release()
  })

  test('are not for the environment of the command to lift', async () => {
    const prepared = prepareLimits({ fileBytes: 512 }, probeLimits(), { sandboxed: false })
    const env = { 'BASH_FUNC_ulimit%%': '() { :; }', SHELLOPTS: 'xtrace', PS4: '$(echo lifted)', ENV: '/dev/null/x' }
    const child = Bun.spawn(prepared.wrap(['/bin/sh', '-c', 'ulimit -f']), { env, stdio: ['ignore', 'pipe', 'pipe'] })
    assert.deepEqual([await child.stdout.text(), await child.stderr.text()], ['1\n', ''])
    await prepared.release()
  })

  test('longer than any timer can wait do not end a command at once', async () => {
    const { stdout } = await runLimited({ wallMs: Number.MAX_SAFE_INTEGER }, shell('sleep 0.3; echo done'))
    assert.equal(stdout, 'done\n')
  })

  test('larger than anything the kernel can count to are accepted', async () => {
    const most = Number.MAX_SAFE_INTEGER
    const limits = { processes: most, memoryBytes: most, cpuSeconds: most, fileBytes: most }
    for (const sandboxed of [false, true]) {
      assert.equal((await runLimited(limits, ['/bin/echo', 'runs'], { sandboxed })).stdout, 'runs\n')
    }
  })

  test('are refused if they are no numbers that one can count to', () => {
    for (const cpuSeconds of [0, -1, 1.5, Number.NaN, 2 ** 53, '1; reboot' as unknown as number]) {
      assert.throws(() => prepareLimits({ cpuSeconds }, probeLimits(), { sandboxed: false }), LimitError)
    }
  })

  test('are refused without control groups, with a reason and a remedy', async () => {
    const means = probeLimits({ mountinfo: '', membership })
    const refusal = (limits: object) => {
      try {
        prepareLimits(limits, means, { sandboxed: true })
      } catch (error) {
        assert.ok(error instanceof LimitError)
        return error.message
      }
      return undefined
    }
    const remedy = 'run the server as root, or in a control group of its own'
    assert.match(refusal({ memoryBytes: 1 })!, new RegExp(`^memoryBytes cannot be enforced here: .*; ${remedy}`))
    assert.match(refusal({ processes: 1 })!, new RegExp(`^processes cannot be enforced here: .*; ${remedy}`))
    assert.equal(refusal({ cpuSeconds: 1, fileBytes: 1024, wallMs: 1 }), undefined)
  })

  test('are made where servers that were killed have left theirs, and remove those', async () => {
    const gone = Bun.spawn(['/bin/true'])
    await gone.exited
    const [parent] = parentsIn(probeLimits())
    const [stale, alive] = [`waldo-${gone.pid}-3`, `waldo-${process.ppid}-3`].map((name) => join(parent!.path, name))
    mkdirSync(stale!)
    mkdirSync(alive!)
    try {
      await runLimited({ cpuSeconds: 1, memoryBytes: 512 * MEGABYTE, processes: 10 }, ['/bin/true'])
      assert.deepEqual([existsSync(stale!), existsSync(alive!)], [false, true])
    } finally {
      rmdirSync(alive!)
    }
  })
})
