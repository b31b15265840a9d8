import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallError } from '@waldo/testkit'
import { forEachAccount } from './escape/for-each-account.ts'
import { HOSTILE_PROFILES } from './escape/hostile-profiles.ts'
import { type SandboxContext, uri } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

const REFUSALS = [-32600, -32602]

forEachAccount('a profile with', (bench) => {
  for (const { title, outcome, change } of HOSTILE_PROFILES) {
    test(`${title} is ${outcome === 'either' ? 'refused or enforced' : outcome}`, async () => {
      await using trial = await Trial.open(bench(), { profile: 'deny' })
      const sandbox = trial.sandbox()
      change(sandbox, trial.ws)
      const outcomes = [await ofCommand(trial, sandbox), ...(await ofCalls(trial, sandbox))]
      if (outcome !== 'either') assert.deepEqual(new Set(outcomes), new Set([outcome]))
      await trial.endsWell()
      // The next one, with a plain profile, is not the worse for it.
      assert.equal((await trial.run('exit 3')).exitCode, 3)
    })
  }
})

async function ofCommand(trial: Trial, sandbox: SandboxContext): Promise<'refused' | 'enforced'> {
  const script = `echo ran; echo x > ${trial.out}/pwn && echo ESCAPE; cat ${trial.ws}/secret/key ${trial.ws}/a/b/prod.env; true`
  try {
    const seen = await trial.run(script, { sandbox })
    assert.match(seen.stdout, /ran/, `nothing ran: ${seen.stderr}`)
    assert.doesNotMatch(`${seen.stdout}${seen.stderr}`, /ESCAPE|TOPSECRET/)
    return 'enforced'
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    assert.equal(error.code, -32602, error.message)
    return 'refused'
  }
}

async function ofCalls(trial: Trial, sandbox: SandboxContext): Promise<('refused' | 'enforced')[]> {
  const allowed = await trial.call('fs/readFile', { path: uri(`${trial.ws}/f.txt`), sandbox })
  if (allowed.error) assert.ok(REFUSALS.includes(allowed.error.code), `${allowed.error.code} ${allowed.error.message}`)
  for (const [method, params] of [
    ['fs/writeFile', { path: uri(`${trial.out}/pwn`), dataBase64: 'eA==' }],
    ['fs/readFile', { path: uri(`${trial.ws}/secret/key`) }],
    ['fs/readFile', { path: uri(`${trial.ws}/a/b/prod.env`) }],
  ] as const) {
    const { error } = await trial.call(method, { ...params, sandbox })
    assert.ok(error, `${method} of ${params.path} was allowed`)
    assert.doesNotMatch(error.message, /TOPSECRET/)
  }
  return [allowed.error ? 'refused' : 'enforced']
}

forEachAccount('a profile', (bench) => {
  test('hides a name that is not UTF-8', async () => {
    const name = '$(printf "bad\\377")'
    await using trial = await Trial.open(bench(), { profile: 'ws' }, `echo TOPSECRET > $WS/${name}`)
    const sandbox = trial.sandbox()
    const path = `${uri(trial.ws)}/bad%FF`
    sandbox.permissions.file_system.entries.push({ path: { type: 'path', path }, access: 'deny' })
    assert.doesNotMatch(await trial.tell('fs/readFile', { path, sandbox }), /TOPSECRET/)
    try {
      const { stdout, stderr } = await trial.run(`cat ${trial.ws}/bad*`, { sandbox })
      assert.doesNotMatch(`${stdout}${stderr}`, /TOPSECRET/)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      assert.equal(error.code, -32602)
    }
    await trial.endsWell()
  })

  test('keeps the network away although all files are free', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const sandbox = trial.sandbox()
    Object.assign(sandbox.permissions, { file_system: { type: 'unrestricted' } })
    const script = `curl -s -m 2 http://127.0.0.1:${trial.bench.originPort}/; echo ran`
    const { stdout } = await trial.run(script, { sandbox })
    assert.deepEqual(stdout, 'ran\n')
    await trial.endsWell()
  })
})
