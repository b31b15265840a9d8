import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { base64, openPlace, uri } from './place.ts'

const { at, client, root, close } = await openPlace()
after(close)

describe('extensions', () => {
  test('rename moves, and does not overwrite where it is told not to', async () => {
    writeFileSync(at('r1'), '1')
    writeFileSync(at('r2'), '2')
    const paths = { sourcePath: uri(at('r1')), destinationPath: uri(at('r2')) }
    assert.equal((await client.failure('fs/rename', { ...paths, overwrite: false })).code, -32603)
    await client.call('fs/rename', paths)
    assert.deepEqual([existsSync(at('r1')), readFileSync(at('r2'), 'utf8')], [false, '1'])
    assert.equal((await client.failure('fs/rename', paths)).code, -32004)
  })

  test('append adds to the end, and setMode sets the mode', async () => {
    const append = (text: string) => client.call('fs/append', { path: uri(at('log')), dataBase64: base64(text) })
    await append('a')
    await Promise.all(Array.from({ length: 50 }, () => append('line\n')))
    assert.equal(readFileSync(at('log'), 'utf8'), `a${'line\n'.repeat(50)}`)
    await client.call('fs/setMode', { path: uri(at('log')), mode: 0o640 })
    assert.equal(statSync(at('log')).mode & 0o7777, 0o640)
    symlinkSync('log', at('log-link'))
    const nofollow = { path: uri(at('log-link')), mode: 0o777, followSymlinks: false }
    assert.equal((await client.failure('fs/setMode', nofollow)).code, -32600)
    assert.equal(statSync(at('log')).mode & 0o7777, 0o640)
  })

  test('a profile without entries shows nothing, and one without a sandbox everything', async () => {
    const sandbox = {
      permissions: { type: 'managed', file_system: { type: 'restricted', entries: [] }, network: 'restricted' },
      windowsSandboxLevel: 'disabled',
    }
    for (const method of ['fs/readFile', 'fs/walk', 'fs/glob', 'fs/watch', 'fs/open']) {
      const options = { maxDepth: 1, maxDirectories: 1, maxEntries: 1, followDirectorySymlinks: false }
      const params = { path: uri(root), patterns: ['*'], sandbox, options, handleId: 'h', watchId: 'w' }
      assert.equal((await client.failure(method, params)).code, -32004, method)
    }
    const disabled = { permissions: { type: 'disabled' }, windowsSandboxLevel: 'disabled' }
    await client.call('fs/getMetadata', { path: uri(root), sandbox: disabled })
  })
})
