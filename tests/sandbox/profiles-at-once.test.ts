import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachAccount } from './escape/for-each-account.ts'
import { type ProfileName, sandboxContext, uri } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

forEachAccount('calls with different profiles', (bench) => {
  test('at the same time are each kept to their own', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const path = uri(`${trial.ws}/secret/key`)
    const outside = uri(`${trial.out}/keep.txt`)
    const says = async (profile: ProfileName, what: string) =>
      (await trial.tell('fs/readFile', { path: what, sandbox: sandboxContext({ profile }, trial.ws) })).slice(0, 7)
    const rounds = Array.from({ length: 50 }, async () => [
      await says('ws', path),
      await says('deny', path),
      await says('min', path),
      await says('min', outside),
      await says('deny', outside),
    ])
    const readable = '{"dataB'
    for (const round of await Promise.all(rounds)) {
      assert.deepEqual(round, [readable, '-32600 ', readable, '-32004 ', readable])
    }
    await trial.endsWell()
  })

  test('may be as many as there are workspaces, within reason', async () => {
    const names = Array.from({ length: 30 }, (_, n) => `r${n}`)
    await using trial = await Trial.open(bench(), { profile: 'min' }, `cd $WS; mkdir ${names.join(' ')}`)
    const write = (from: string, to: string) =>
      trial.call('fs/writeFile', {
        path: uri(`${trial.ws}/${to}/f`),
        dataBase64: 'eA==',
        sandbox: sandboxContext({ profile: 'min', roots: [`${trial.ws}/${from}`] }, trial.ws),
      })
    const answers = await Promise.all(
      names.flatMap((name, n) => [write(name, name), write(name, names[(n + 1) % names.length]!)]),
    )
    const refused = answers.map(({ error }) => error !== undefined)
    assert.deepEqual(
      refused,
      names.flatMap(() => [false, true]),
    )
    await trial.endsWell()
  })
})
