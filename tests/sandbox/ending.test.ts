import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, processesWith } from '@waldo/testkit'
import { forEachAccount } from './escape/for-each-account.ts'
import { descendantsOf } from './escape/processes.ts'
import { managedNetwork } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

const there = (mark: string, count: number) =>
  eventually(() => processesWith(mark).length >= count, `${count} of ${mark}`)
const gone = (mark: string) => eventually(() => processesWith(mark).length === 0, `${mark} to end`)

forEachAccount('the end of a sandboxed command', (bench) => {
  test('by terminate is the end of everything it has started', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const script =
      'sleep 8465101 & setsid sleep 8465101 & (setsid sh -c "sleep 8465101 & sleep 8465101" &) ; trap "" TERM INT HUP; sleep 8465101'
    for (const tty of [false, true]) {
      const id = await trial.start(['/bin/bash', '-c', script], { tty })
      await there('sleep 8465101', 5)
      const { result } = await trial.connection.call('process/terminate', { processId: id })
      assert.deepEqual(result, { running: true })
      assert.ok(await trial.connection.ended(id))
      await gone('sleep 8465101')
    }
    await trial.endsWell()
  })

  test('of the process that makes networks harms nobody', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const sandbox = trial.sandbox()
    sandbox.permissions.network = 'enabled'
    const network = managedNetwork({ domains: {}, allowLocalBinding: false })
    for (let round = 0; round < 5; round++) {
      const { exitCode } = await trial.run(['/bin/sh', '-c', 'exit 9'], { sandbox, ...network })
      assert.equal(exitCode, 9)
      // While it is looked for those who have lost their parents, so that it could be taken for one of them.
      const id = await trial.start('(sleep 8465102 &); sleep 8465102')
      const terminated = trial.connection.call('process/terminate', { processId: id })
      const own = descendantsOf(bench().server.pid)
      const makers = processesWith('namespace-maker').filter((pid) => own.includes(pid))
      for (const pid of makers) process.kill(pid, 'SIGKILL')
      await terminated
      assert.ok(await trial.connection.ended(id))
    }
    await trial.endsWell()
  })

  test('with a grace lets it clean up, and its exit code counts', async (context) => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    if (!trial.connection.capabilities.processTerminateGrace && !bench().isOwnServer) {
      return context.skip('the server has no grace')
    }
    const polite = `trap 'echo bye > ${trial.ws}/bye; echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done`
    for (const tty of [false, true]) {
      const id = await trial.start(polite, { tty })
      await trial.connection.raw.untilOutput(id, 'up')
      await trial.connection.call('process/terminate', { processId: id, graceMs: 10_000 })
      assert.ok(await trial.connection.ended(id))
      const seen = trial.connection.raw.observed(id)
      // A shell may say of what it had started that it was terminated, too.
      assert.match(`${seen.stdout}${seen.pty}`, /^up\r?\n(Terminated\s+)?bye\r?\n$/)
      assert.equal(seen.exitCode, 3)
    }
    const deaf = await trial.start('trap "" TERM; echo up; while :; do sleep 0.05; done')
    await trial.connection.raw.untilOutput(deaf, 'up')
    await trial.connection.call('process/terminate', { processId: deaf, graceMs: 200 })
    assert.ok(await trial.connection.ended(deaf))
    assert.equal(trial.connection.raw.observed(deaf).exitCode, 137)
    await trial.endsWell()
  })

  test('is told by the same numbers as without a sandbox', async () => {
    await using trial = await Trial.open(bench(), { profile: 'deny' })
    for (const script of [
      'exit 0',
      'exit 1',
      'exit 101',
      'exit 126',
      'exit 127',
      'exit 255',
      'kill -KILL $$',
      'kill -INT $$',
    ]) {
      const [inside, outside] = [await trial.run(script), await trial.run(script, { sandbox: undefined })]
      assert.deepEqual([script, inside.exitCode, inside.stderr], [script, outside.exitCode, outside.stderr])
    }
  })

  test('before it began tells a missing program from a sandbox that cannot be made', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, 'ln -s sub $WS/lnk')
    const missing = await trial.failureOf(['/nowhere/program'])
    assert.match(missing, /no such file|not found/i)
    const bare = await trial.failureOf(['sbx-no-such-program'])
    assert.match(bare, /no such file|not found/i)
    assert.doesNotMatch(`${missing}${bare}`, /bwrap/)
    const sandbox = trial.sandbox()
    sandbox.permissions.file_system.entries.push({
      path: { type: 'path', path: `${sandbox.cwd}/lnk/prot` },
      access: 'read',
    })
    assert.match(await trial.failureOf(['/bin/true'], { sandbox }), /^-32602 .*(sandbox|link)/i)
    assert.match(await trial.failureOf(['/bin/true'], { cwd: 'file:///nowhere' }), /\/nowhere/)
    // A directory that the profile hides is none either.
    const hidden = await trial.failureOf(['/bin/true'], { cwd: `file://${trial.ws}/secret`, sandbox: hides(trial) })
    assert.match(hidden, /secret/)
    await trial.endsWell()
  })

  test('comes with the end of its server, however that ends', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    await using server = await bench().startServer()
    await using connection = await bench().connect(server)
    const members = { ...bench().commandDefaults(trial.surroundings), sandbox: trial.sandbox() }
    const id = await connection.start(['/bin/sh', '-c', 'setsid sleep 8465102 & echo up; sleep 8465102'], members)
    await connection.raw.untilOutput(id, 'up')
    process.kill(server.pid, 'SIGKILL')
    await gone('sleep 8465102')
    await trial.endsWell()
  })

  test('comes with the end of its server also when it has hardly begun', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const members = { ...bench().commandDefaults(trial.surroundings), sandbox: trial.sandbox() }
    for (const milliseconds of [0, 1, 2, 4, 6, 8, 12]) {
      await using server = await bench().startServer()
      await using connection = await bench().connect(server)
      await connection.run(['/bin/true'], members)
      const starts = [1, 2, 3].map(() => connection.start(['/bin/sh', '-c', 'sleep 8465103'], members))
      await Bun.sleep(milliseconds)
      process.kill(server.pid, 'SIGKILL')
      // It does not answer any more.
      await Promise.allSettled(starts)
      await gone('sleep 8465103')
    }
    await trial.endsWell()
  })
})

function hides(trial: Trial) {
  const sandbox = trial.sandbox()
  sandbox.permissions.file_system.entries.push({
    path: { type: 'path', path: `${sandbox.cwd}/secret` },
    access: 'deny',
  })
  return sandbox
}
