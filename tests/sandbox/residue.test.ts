import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { eventually, processesWith } from '@waldo/testkit'
import { forEachAccount } from './escape/for-each-account.ts'
import { Trial } from './escape/trial.ts'

const TRY = 'mkdir .codex .agents 2>/dev/null && echo ESCAPE; echo x > .codex/config.toml; echo x > .agents; echo tried'

forEachAccount('mount points that a sandbox needs', (bench) => {
  const names = (trial: Trial) => readdirSync(trial.ws).filter((name) => name.startsWith('.'))

  test('stay for whoever still runs, and go with the last', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const long = await trial.start(`echo up; read go; ${TRY}`, { pipeStdin: true })
    await trial.connection.raw.untilOutput(long, 'up')
    const short = await Promise.all([trial.run(TRY), trial.run(TRY), trial.run('kill -9 $$')])
    for (const { stdout } of short) assert.doesNotMatch(stdout, /ESCAPE/)
    await trial.connection.raw.write(long, 'go\n')
    assert.ok(await trial.connection.ended(long))
    assert.equal(trial.connection.raw.observed(long).stdout, 'up\ntried\n')
    await eventually(() => names(trial).join() === '.git', 'nothing but .git to be left')
    await trial.endsWell()
  })

  test('go too when the command is killed, or never began', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const id = await trial.start('echo up; sleep 8465201')
    await trial.connection.raw.untilOutput(id, 'up')
    await trial.connection.terminate(id)
    await trial.run(['/nowhere/program']).catch(() => undefined)
    await eventually(() => names(trial).join() === '.git', 'nothing but .git to be left')
    await trial.endsWell()
  })

  test('that a killed server has left are swept by the next', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const members = { ...bench().commandDefaults(trial.surroundings), sandbox: trial.sandbox() }
    const killed = await bench().startServer()
    try {
      await using connection = await bench().connect(killed)
      const id = await connection.start(['/bin/sh', '-c', 'echo up; sleep 8465202'], members)
      await connection.raw.untilOutput(id, 'up')
    } finally {
      process.kill(killed.pid, 'SIGKILL')
      await killed[Symbol.asyncDispose]()
    }
    await eventually(() => processesWith('sleep 8465202').length === 0, 'the command to end')
    await using next = await bench().startServer()
    await using connection = await bench().connect(next)
    assert.equal((await connection.run(['/bin/true'], members)).exitCode, 0)
    await eventually(() => names(trial).join() === '.git', 'nothing but .git to be left')
    await trial.endsWell()
  })

  test('do not take away what somebody else has made meanwhile', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const id = await trial.start('echo up; read go', { pipeStdin: true })
    await trial.connection.raw.untilOutput(id, 'up')
    trial.surroundings.runOnHost('mkdir -p $WS/.codex; echo mine > $WS/.codex/config.toml')
    await trial.connection.raw.write(id, 'go\n')
    assert.ok(await trial.connection.ended(id))
    assert.equal((await trial.run(`cat ${trial.ws}/.codex/config.toml`)).stdout, 'mine\n')
    await trial.endsWell()
  })
})
