import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { RawClient, startServer } from '@waldo/testkit'

const EXECUTABLE = join(import.meta.dir, '../dist/waldo')

describe('the compiled file', () => {
  test('serves processes on pipes and terminals', async () => {
    await using server = await startServer({ executable: EXECUTABLE })
    await using client = await RawClient.connect(server.url)
    assert.equal((await client.run('echo compiled; exit 2')).exitCode, 2)
    assert.match((await client.run('tty', { tty: true })).pty, /^\/dev\/pts/)
    const flood = await client.run('head -c 5000000 /dev/zero')
    assert.equal(flood.stdout.length, 5_000_000)
  })

  test('judges scripts, wherever it is started: the grammar is in it', async () => {
    const command = [EXECUTABLE, 'policy', 'check', '--json', '-c', 'ls && echo "$(rm -rf build)"']
    const child = Bun.spawn(command, { cwd: '/', env: { HOME: '/' }, stdio: ['ignore', 'pipe', 'inherit'] })
    const { opaque, why } = JSON.parse(await child.stdout.text())
    assert.equal(await child.exited, 10)
    assert.match(opaque, /a command substitution/)
    assert.equal(why[0].source, 'dangerous')
  })
})
