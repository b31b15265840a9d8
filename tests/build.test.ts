import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { RawClient, startServer } from '@waldo/testkit'

describe('the compiled file', () => {
  test('serves processes on pipes and terminals', async () => {
    await using server = await startServer({ executable: join(import.meta.dir, '../dist/waldo') })
    await using client = await RawClient.connect(server.url)
    assert.equal((await client.run('echo compiled; exit 2')).exitCode, 2)
    assert.match((await client.run('tty', { tty: true })).pty, /^\/dev\/pts/)
    const flood = await client.run('head -c 5000000 /dev/zero')
    assert.equal(flood.stdout.length, 5_000_000)
  })
})
