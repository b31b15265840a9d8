import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { prepareLimits } from '../prepare-limits.ts'
import { type LimitMeans, probeLimits } from '../probe-limits.ts'

const ALL = 'cpuset cpu io memory pids\n'
const UNIFIED = '/sys/fs/cgroup/unified'

/** Ordinary directories with the files that tell what groups may do. */
describe('in the second version of control groups', () => {
  let mount: string
  const slice = () => join(mount, 'some.slice')
  const own = () => join(slice(), 'ours.scope')
  const makeGroup = (path: string, files: { controllers: string; handsDown: string; members: number[] }) => {
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, 'cgroup.type'), 'domain\n')
    writeFileSync(join(path, 'cgroup.controllers'), files.controllers)
    writeFileSync(join(path, 'cgroup.subtree_control'), files.handsDown)
    writeFileSync(join(path, 'cgroup.procs'), files.members.map((pid) => `${pid}\n`).join(''))
  }
  const probe = (): LimitMeans =>
    probeLimits({
      mountinfo: `29 23 0:26 / ${mount} rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n`,
      membership: '0::/some.slice/ours.scope\n',
    })
  const waysIn = ({ of }: LimitMeans) =>
    (['memoryBytes', 'processes', 'cpuSeconds'] as const).map((kind) => {
      const way = of[kind]
      return 'parent' in way ? way.parent.path : way.by
    })

  beforeEach(() => {
    mount = mkdtempSync(join(tmpdir(), 'waldo-unified-'))
    makeGroup(mount, { controllers: ALL, handsDown: ALL, members: [] })
    makeGroup(slice(), { controllers: ALL, handsDown: ALL, members: [] })
    makeGroup(own(), { controllers: ALL, handsDown: '\n', members: [process.pid] })
  })
  afterEach(() => rmSync(mount, { recursive: true }))

  test('limits are set below our own group, if we are alone in it', async () => {
    const means = probe()
    assert.deepEqual(waysIn(means), [own(), own(), own()])
    assert.deepEqual(
      readdirSync(own()).filter((name) => name.startsWith('waldo-')),
      [],
      'looking changes nothing',
    )

    const limits = { memoryBytes: 1 << 26, processes: 9, cpuSeconds: 3 }
    const prepared = prepareLimits(limits, means, { sandboxed: false })
    assert.equal(readFileSync(join(own(), 'cgroup.subtree_control'), 'latin1'), '+memory +pids')
    const group = join(own(), `waldo-${process.pid}-1`)
    const read = (file: string) => readFileSync(join(group, file), 'latin1')
    assert.deepEqual([read('memory.max'), read('memory.oom.group'), read('pids.max')], ['67108864', '1', '9'])

    const child = Bun.spawn(prepared.wrap(['/bin/echo', 'runs']), { stdio: ['ignore', 'pipe', 'inherit'] })
    assert.equal(await child.stdout.text(), 'runs\n')
    assert.equal(read('cgroup.procs'), '0\n')
    writeFileSync(join(group, 'memory.events'), 'oom 1\noom_kill 1\n')
    assert.equal(prepared.hit({ exitCode: null, signal: 'SIGKILL' })?.kind, 'memoryBytes')

    // The kernel's own files do not keep a group from being removed.
    for (const file of readdirSync(group)) rmSync(join(group, file))
    await prepared.release()
    assert.equal(existsSync(group), false)
  })

  test('limits are set above our own group, if others are in there', () => {
    writeFileSync(join(own(), 'cgroup.procs'), `${process.ppid}\n${process.pid}\n`)
    assert.deepEqual(waysIn(probe()), [slice(), slice(), slice()])
  })

  test('memory is refused if no group hands it down, but CPU time is counted', () => {
    writeFileSync(join(own(), 'cgroup.procs'), `${process.ppid}\n`)
    for (const path of [mount, slice()]) writeFileSync(join(path, 'cgroup.subtree_control'), 'cpu pids\n')
    assert.deepEqual(waysIn(probe()), ['none', slice(), slice()])
    for (const path of [mount, slice()]) writeFileSync(join(path, 'cgroup.subtree_control'), '\n')
    assert.deepEqual(waysIn(probe()), ['none', 'none', own()])
  })

  test('a server moves to a group of its own, so that the one it is in can hand controllers down', {
    skip: offersHugetlb() ? false : `${UNIFIED} has no controller to try it with`,
  }, async () => {
    const group = join(UNIFIED, `waldo-vacate-test-${process.pid}`)
    writeFileSync(join(UNIFIED, 'cgroup.subtree_control'), '+hugetlb')
    mkdirSync(group)
    try {
      const script = `
        const { vacate } = await import(${JSON.stringify(join(import.meta.dir, 'vacate.ts'))})
        vacate(${JSON.stringify(group)}, ['hugetlb'])
        const refuge = require('node:fs').readFileSync('/proc/self/cgroup', 'latin1').match(/^0::(.*)$/m)[1]
        console.log(process.pid, refuge)`
      const enter = 'echo 0 >"$0"/cgroup.procs && exec "$@"'
      const server = Bun.spawn(['/bin/sh', '-c', enter, group, process.execPath, '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [pid, refuge] = (await server.stdout.text()).trim().split(' ')
      await server.exited
      assert.equal(refuge, join(group.slice(UNIFIED.length), `waldo-${pid}-0`))
      assert.equal(readFileSync(join(group, 'cgroup.subtree_control'), 'latin1'), 'hugetlb\n')
      rmdirSync(join(UNIFIED, refuge))
    } finally {
      rmdirSync(group)
      writeFileSync(join(UNIFIED, 'cgroup.subtree_control'), '-hugetlb')
    }
  })
})

function offersHugetlb(): boolean {
  const read = (file: string) => readFileSync(join(UNIFIED, file), 'latin1').trim()
  return existsSync(UNIFIED) && read('cgroup.controllers').includes('hugetlb') && read('cgroup.subtree_control') === ''
}
