import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect } from '@waldo/sdk'
import { until } from '../environments/collect.ts'
import { startProxy } from '../environments/cutting-proxy.ts'
import { type ExecutorOptions, startExecutor } from '../environments/executors.ts'
import { scratch } from '../environments/scratch.ts'
import { gate, Talk } from './place.ts'

/** An executor behind a wire that can be cut. */
async function farPlace(options: ExecutorOptions = {}) {
  const home = scratch()
  const executor = await startExecutor(options)
  const proxy = await startProxy(executor.url)
  const environment = connect(proxy.url, { cwd: home.path })
  return {
    environment,
    directory: home.path,
    executor,
    proxy,
    async [Symbol.asyncDispose]() {
      await environment.close()
      await proxy[Symbol.asyncDispose]()
      await executor[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

describe('a connection that is cut', () => {
  test('in the middle of a wait loses nothing', async () => {
    await using place = await farPlace()
    await using talk = new Talk(place)
    const held = gate(place)
    const answer = talk.run('exec_command', { cmd: `echo before; ${held.wait}; seq 1 1000; exit 3`, until: 'exit' })
    await until(() => talk.ofType('exec_output').length > 0)
    await place.proxy.refuse()
    held.open()
    await until(() => place.environment.status.state === 'recovering')
    await place.proxy.accept()
    const { output, exitCode } = await answer
    const numbers = Array.from({ length: 1000 }, (_, index) => `${index + 1}\n`).join('')
    assert.equal(output, `before\n${numbers}`)
    assert.equal(exitCode, 3)
    assert.deepEqual([talk.ofType('exec_begin').length, talk.ofType('exec_end').length], [1, 1])
  })

  test('again and again loses nothing either', async () => {
    await using place = await farPlace()
    await using talk = new Talk(place)
    const cmd = 'for i in $(seq 1 60); do echo $i; sleep 0.03; done'
    let isOver = false
    const answer = talk.run('exec_command', { cmd, until: 'exit' }).finally(() => {
      isOver = true
    })
    while (!isOver) {
      place.proxy.cut()
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    const { output } = await answer
    assert.equal(output, Array.from({ length: 60 }, (_, index) => `${index + 1}\n`).join(''))
  })

  test('is told to whoever looks meanwhile, and what was typed is typed once', async () => {
    await using place = await farPlace()
    await using talk = new Talk(place)
    const session_id = await talk.start('cat', { tty: true })
    await place.proxy.refuse()
    await until(() => place.environment.status.state === 'recovering')
    const { sessionId, notes } = await talk.run('write_stdin', { session_id, until: { idle_ms: 50 } })
    assert.equal(sessionId, session_id)
    assert.match(notes.join(), /the connection to it is cut and being taken up again/)
    const typing = talk.run('write_stdin', {
      session_id,
      chars: 'once\n',
      until: { match: 'once' },
      yield_time_ms: 20_000,
    })
    await place.proxy.accept()
    await typing
    await talk.run('write_stdin', { session_id, chars: '\u0004', until: 'exit' })
    const { text } = await talk.call('read_output', { session_id, grep: 'once' })
    assert.match(text, /^2 matches/)
  })

  test('a kill that cannot be told can be given up', async () => {
    await using place = await farPlace()
    await using talk = new Talk(place)
    const session_id = await talk.start('exec sleep 1000')
    await place.proxy.refuse()
    await until(() => place.environment.status.state === 'recovering')
    const { text } = await talk.call('kill_session', { session_id }, { signal: AbortSignal.timeout(100) })
    assert.match(text, /^aborted by user/)
    await place.proxy.accept()
    await until(() => talk.ofType('exec_end').length > 0)
    assert.equal(talk.ofType('exec_end')[0]!.state, 'killed')
  })
})

describe('an executor that is gone for good', () => {
  test('is told as such, with one end for each process', async () => {
    await using place = await farPlace({ args: ['--detached-ttl', '1s'] })
    await using talk = new Talk(place)
    const waiting = talk.run('exec_command', { cmd: 'echo up; exec sleep 1000', until: 'exit' })
    await until(() => talk.ofType('exec_output').length > 0)
    const background = await talk.start('exec sleep 1000')
    await place.executor.kill()
    const { text, output, exitCode, sessionId, notes } = await waiting
    assert.deepEqual([output, exitCode, sessionId], ['up\n', undefined, undefined])
    assert.match(notes.join(), /^Process was lost with the connection to it: .*Whether it goes on is not known$/)
    assert.doesNotMatch(text, /exited with code|running with session/)
    await until(() => talk.ofType('exec_end').length === 2)
    assert.deepEqual(
      talk.ofType('exec_end').map(({ state, exitCode, signal }) => ({ state, exitCode, signal })),
      Array(2).fill({ state: 'lost', exitCode: -1, signal: null }),
    )
    const late = await talk.run('write_stdin', { session_id: background })
    assert.match(late.notes.join(), /lost with the connection/)
    const [completion] = await talk.conversation.takeCompletions()
    assert.equal(completion, undefined)
    assert.match(await talk.refusal('exec_command', { cmd: 'true' }), /^exec_command failed for|cannot connect/)
  })
})
