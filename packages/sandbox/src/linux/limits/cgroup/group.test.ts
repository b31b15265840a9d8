import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { Group } from './group.ts'

/** The files of a group as the kernel makes them, in an ordinary directory. */
describe('a control group of the second version', () => {
  let path: string
  const put = (file: string, text: string) => writeFileSync(join(path, file), text)
  const get = (file: string) => readFileSync(join(path, file), 'latin1')

  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'waldo-group-'))
  })
  afterEach(() => rmSync(path, { recursive: true }))

  test('limits memory with no way out to swap, and lets all die together', () => {
    for (const file of ['memory.max', 'memory.swap.max', 'memory.oom.group']) put(file, 'max')
    new Group(2, path).limitMemory(123_456)
    assert.deepEqual([get('memory.max'), get('memory.oom.group')], ['123456', '1'])
    // What the kernel would take as a whole is a file whose old end stays here.
    assert.match(get('memory.swap.max'), /^0/)
  })

  test('limits memory where swap is not counted', () => {
    new Group(2, path).limitMemory(123_456)
    assert.equal(existsSync(join(path, 'memory.swap.max')), false)
  })

  test('limits processes to what the kernel accepts', () => {
    new Group(2, path).limitProcesses(17)
    assert.equal(get('pids.max'), '17')
    new Group(2, path).limitProcesses(1e9)
    assert.equal(get('pids.max'), '4194304')
  })

  test('says what happened in it', () => {
    put('memory.events', 'low 0\nhigh 0\nmax 31\noom 1\noom_kill 2\noom_group_kill 1\n')
    put('pids.events', 'max 5\n')
    put('cpu.stat', 'usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n')
    const group = new Group(2, path)
    assert.deepEqual([group.memoryKills(), group.refusedForks(), group.cpuSeconds()], [2, 5, 2.5])
  })

  test('is not blamed for a kill when the memory of a group above ran out', () => {
    put('memory.events', 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n')
    assert.equal(new Group(2, path).memoryKills(), 0)
  })

  test('says nothing when it is gone', () => {
    const group = new Group(2, join(path, 'gone'))
    assert.deepEqual([group.memoryKills(), group.refusedForks(), group.cpuSeconds()], [0, 0, 0])
    group.kill()
    assert.equal(group.remove(), true)
  })

  test('kills all at once where the kernel can', () => {
    put('cgroup.kill', '')
    new Group(2, path).kill()
    assert.equal(get('cgroup.kill'), '1')
  })

  test('kills one after the other on older kernels, and not those outside of our namespace', async () => {
    const member = Bun.spawn(['sleep', '600'])
    put('cgroup.procs', `0\n${member.pid}\n`)
    new Group(2, path).kill()
    await member.exited
    assert.equal(member.signalCode, 'SIGKILL')
  })
})
