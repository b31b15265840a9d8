import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { CallError } from '@waldo/testkit'
import { forEachAccount } from './escape/for-each-account.ts'
import { uri } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

forEachAccount('where no namespaces can be made', (bench) => {
  test('nothing runs that asked for a sandbox, and everything else does', async () => {
    await using trial = await Trial.open(bench(), { profile: 'deny' })
    await using server = await bench().startServer({ withoutNamespaces: true })
    await using connection = await bench().connect(server)
    const { ws } = trial
    const members = bench().commandDefaults(trial.surroundings)
    const sandbox = trial.sandbox()

    const refused = connection.start(['/bin/sh', '-c', `echo x > ${ws}/ran`], { ...members, sandbox })
    await assert.rejects(refused, (error) => {
      assert.ok(error instanceof CallError)
      assert.equal(error.code, -32602)
      assert.match(error.message, /sandbox/i)
      // It is, but that does not help.
      assert.doesNotMatch(error.message, /not installed/)
      return true
    })
    for (const [method, params] of [
      ['fs/writeFile', { path: uri(`${ws}/ran`), dataBase64: 'eA==' }],
      ['fs/readFile', { path: uri(`${ws}/f.txt`) }],
      ['fs/readFile', { path: uri(`${ws}/secret/key`) }],
      ['fs/remove', { path: uri(`${ws}/f.txt`) }],
    ] as const) {
      const { error } = await connection.call(method, { ...params, sandbox })
      assert.ok(error && [-32600, -32602].includes(error.code), `${method}: ${JSON.stringify(error)}`)
    }
    assert.deepEqual([existsSync(`${ws}/ran`), existsSync(`${ws}/f.txt`)], [false, true])

    assert.equal((await connection.run(['/bin/sh', '-c', 'exit 6'], members)).exitCode, 6)
    const disabled = { ...sandbox, permissions: { type: 'disabled' } }
    assert.equal((await connection.run(['/bin/sh', '-c', 'exit 8'], { ...members, sandbox: disabled })).exitCode, 8)
    assert.equal((await connection.call('fs/readFile', { path: uri(`${ws}/f.txt`) })).error, undefined)
    await trial.endsWell()
  })
})
