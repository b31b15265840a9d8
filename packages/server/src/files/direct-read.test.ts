import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import * as files from '@waldo/local/files'
import { readDirectly } from './direct-read.ts'

const root = mkdtempSync('/var/tmp/waldo-direct-')
after(() => rmSync(root, { recursive: true, force: true }))
const at = (name: string) => join(root, name)
mkdirSync(at('state'))
writeFileSync(at('file'), 'content')
writeFileSync(at('state/log'), 'of somebody else')
symlinkSync('file', at('link'))
symlinkSync('/proc/self/environ', at('environment'))
symlinkSync('state', at('alias'))

const read = (path: string, { followSymlinks = true, hidden = [at('state')] } = {}) =>
  readDirectly(files, path, { followSymlinks, hidden })?.toString()

describe('a file is read without a helper', () => {
  test('if it is small and ordinary, also through a link', () => {
    assert.equal(read(at('file')), 'content')
    assert.equal(read(at('link')), 'content')
    assert.equal(read(at('file'), { followSymlinks: false }), 'content')
  })

  test('not if it is of the system, or the executor, by whatever name', () => {
    for (const path of ['/proc/self/environ', '/dev/null', '/sys/kernel/uevent_seqnum', at('environment')]) {
      assert.equal(read(path), undefined, path)
    }
    for (const path of [at('state/log'), at('alias/log'), join(root, 'alias/../state/log')]) {
      assert.equal(read(path), undefined, path)
      assert.equal(read(path, { hidden: [at('alias')] }), undefined, path)
    }
  })

  test('not if it is spelled so that nobody would recognize it', () => {
    for (const path of [
      `${root}//state/log`,
      `${root}/./state/log`,
      `${root}/state/../state/log`,
      '//proc/self/status',
    ]) {
      for (const followSymlinks of [true, false]) assert.equal(read(path, { followSymlinks }), undefined, path)
    }
  })

  test('not if there is something to be said about it', () => {
    for (const path of [root, at('missing'), at('file/below')]) assert.equal(read(path), undefined, path)
    assert.equal(read(at('link'), { followSymlinks: false }), undefined)
  })

  test('and nothing else while a link leads to the one and the other in turn', async () => {
    const swap = `
import os
while True:
  for target in ('file', '/proc/self/environ', 'state/log'):
    os.symlink(target, '${at('next')}')
    os.rename('${at('next')}', '${at('swapped')}')
`
    symlinkSync('file', at('swapped'))
    await using swapper = Bun.spawn(['/usr/bin/python3', '-c', swap], { stdio: ['ignore', 'ignore', 'ignore'] })
    const seen = new Set<string | undefined>()
    for (const end = performance.now() + 1500; performance.now() < end; ) seen.add(read(at('swapped')))
    swapper.kill()
    assert.deepEqual(
      [...seen].filter((content) => content !== undefined),
      ['content'],
    )
  })
})
