import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readHierarchies } from './hierarchies.ts'

describe('our place in the control groups', () => {
  const mount = mkdtempSync(join(tmpdir(), 'waldo-hierarchies-'))
  mkdirSync(join(mount, 'a b/c'), { recursive: true })
  after(() => rmSync(mount, { recursive: true }))

  const memoryMount = (root: string, at = mount) => `31 24 0:27 ${root} ${at} rw - cgroup cgroup rw,memory\n`
  const placeOf = (mountinfo: string, membership: string) => readHierarchies({ mountinfo, membership })[0]?.own

  test('is found by controller, and in the second version without one', () => {
    const mountinfo = `30 24 0:26 / ${mount} rw - cgroup2 none rw\n22 1 8:1 / / rw - ext4 /dev/sda rw\n${memoryMount('/')}`
    assert.deepEqual(readHierarchies({ mountinfo, membership: '4:memory,pids:/a b/c\n1:name=systemd:/x\n0::/\n' }), [
      { version: 2, controllers: [], mount, own: mount },
      { version: 1, controllers: ['rw', 'memory'], mount, own: join(mount, 'a b/c') },
    ])
  })

  test('is below what a container sees of the tree', () => {
    assert.equal(placeOf(memoryMount('/docker/0123'), '4:memory:/docker/0123/a b\n'), join(mount, 'a b'))
    assert.equal(placeOf(memoryMount('/docker/0123'), '4:memory:/docker/0123\n'), mount)
  })

  test('is the mount, where our own group cannot be seen', () => {
    assert.equal(placeOf(memoryMount('/docker/0123'), '4:memory:/docker/01234\n'), mount)
    assert.equal(placeOf(memoryMount('/'), '4:memory:/missing\n'), mount)
    assert.equal(placeOf(memoryMount('/'), '4:memory:/../../a b\n'), mount)
  })

  test('is nowhere, where nothing is mounted', () => {
    assert.deepEqual(readHierarchies({ mountinfo: '', membership: '0::/\n' }), [])
    assert.deepEqual(readHierarchies({ mountinfo: memoryMount('/'), membership: '' }), [])
  })

  test('is found under a name with spaces', () => {
    assert.equal(placeOf(memoryMount('/', `${mount}/a\\040b`), '4:memory:/c\n'), join(mount, 'a b/c'))
  })
})
