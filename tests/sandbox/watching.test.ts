import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachAccount } from './escape/for-each-account.ts'
import { uri } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

forEachAccount('a watch', (bench) => {
  test('tells nothing of what its profile denies', async (context) => {
    await using trial = await Trial.open(bench(), { profile: 'deny' })
    const { connection, surroundings } = trial
    if (!connection.capabilities.fsWatch && !bench().isOwnServer) return context.skip('the server watches nothing')
    const { error } = await trial.call('fs/watch', { watchId: 'w', path: uri(trial.ws) })
    assert.equal(error, undefined)
    surroundings.runOnHost('echo x >> $WS/secret/key; echo x > $WS/secret/other; echo x >> $WS/a/b/prod.env')
    surroundings.runOnHost('echo x > $WS/seen')
    const told = () => JSON.stringify(connection.raw.notifications)
    await connection.raw.until(() => told().includes('/seen'), 'the change that may be seen')
    assert.doesNotMatch(told(), /secret\/|prod\.env/)
    await trial.endsWell()
  })
})
