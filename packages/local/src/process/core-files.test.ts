import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { resourceLimit, setResourceLimit } from '../libc.ts'
import { withoutCoreFiles } from './core-files.ts'

const coreLimit = (pid: number) =>
  /^Max core file size\s+(\S+)\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))!.slice(1)

describe('a child that may leave no image of its memory', () => {
  test('cannot change that, and neither can its children; for us nothing has changed', async () => {
    const before = resourceLimit('coreFile')
    const script = 'read go; ulimit -c; ulimit -Hc; ulimit -c 1; sh -c "ulimit -c"'
    const child = withoutCoreFiles(() => Bun.spawn(['sh', '-c', script], { stdio: ['pipe', 'pipe', 'ignore'] }))
    assert.deepEqual(coreLimit(child.pid), ['0', '0'])
    assert.deepEqual(resourceLimit('coreFile'), before)
    child.stdin.write('go\n')
    await child.stdin.end()
    // For root a limit is no obstacle, outside of a sandbox.
    const [soft, hard, ...later] = (await child.stdout.text()).trim().split('\n')
    assert.deepEqual([soft, hard], ['0', '0'])
    if (process.getuid?.() !== 0) assert.deepEqual(later, ['0'])
  })

  test('that cannot be started leaves our own limit as it was', () => {
    const before = resourceLimit('coreFile')
    const soft = before.hard > 4096n ? 4096n : before.hard
    setResourceLimit('coreFile', { soft, hard: before.hard })
    try {
      assert.throws(() => withoutCoreFiles(() => Bun.spawn(['/nowhere/program'])), { code: 'ENOENT' })
      assert.deepEqual(resourceLimit('coreFile'), { soft, hard: before.hard })
    } finally {
      setResourceLimit('coreFile', before)
    }
  })
})
