import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { MountTable } from './mount-table.ts'

describe('slow mounts', () => {
  const root = mkdtempSync(join(tmpdir(), 'waldo-mounts-'))
  const line = (point: string, type: string) =>
    `36 35 98:0 /mnt1 ${point.replaceAll(' ', '\\040')} rw,noatime master:1 - ${type} source rw,errors=continue`
  const text = [line('/', 'fuse.root'), line(`${root}/net work`, 'nfs4'), line(`${root}/disk`, 'ext4')].join('\n')
  const table = new MountTable(() => text)
  mkdirSync(join(root, 'plain/sub'), { recursive: true })
  symlinkSync(join(root, 'net work/home'), join(root, 'absolute'))
  symlinkSync('../../net work', join(root, 'plain/sub/relative'))
  symlinkSync('loop', join(root, 'loop'))
  after(() => rmSync(root, { recursive: true, force: true }))
  const of = (path: string) => table.slowMountOf(join(root, '.') + path)

  test('are found by their own path, and by what leads to them', () => {
    const mount = `${root}/net work`
    for (const path of ['/net work', '/net work/deep/file', '/absolute', '/absolute/x', '/plain/sub/relative/y']) {
      assert.equal(of(path), mount, path)
    }
    assert.equal(table.slowMountOf(Buffer.from(`${root}/absolute/\xff`, 'latin1')), mount)
  })

  test('other paths are not slow: local disks, the root, loops, what does not exist', () => {
    for (const path of ['', '/disk/x', '/plain/sub', '/loop/x', '/nothing/at/all', '/net workers']) {
      assert.equal(of(path), undefined, path)
    }
    assert.equal(table.slowMountOf('/'), undefined)
  })
})
