import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completionMessage } from '@waldo/exec'
import { until } from '../environments/collect.ts'
import { gate, inEachPlace, Talk } from './place.ts'

const SLEEP = 'exec sleep 1000'

inEachPlace('the lifetime of a process', (place) => {
  /** Those that run, by what their call was named. */
  const running = async (talk: Talk) => {
    const processes = await place().environment.processes.list()
    const argv = new Set(talk.ofType('exec_begin').map((begin) => begin.argv.join(' ')))
    return processes.filter((each) => each.state === 'running' && argv.has(each.argv.join(' '))).length
  }
  const named = (list: readonly { sessionId: number }[]) => list.map(({ sessionId }) => sessionId).sort()

  test('the model can see what is open', async () => {
    await using talk = new Talk(place())
    assert.equal((await talk.call('list_sessions', {})).text, 'No sessions are open.')
    const session_id = await talk.start('echo hi; sleep 1000 # one', { lifetime: 'turn' })
    const { text, structured } = await talk.call('list_sessions', {})
    assert.match(text, new RegExp(`^${session_id}  running  \\d+ s  /\\S+  "echo hi; sleep 1000 # one"$`))
    const [listed] = (structured as { sessions: Record<string, unknown>[] }).sessions
    assert.deepEqual(
      { ...listed, cwd: '', age_seconds: 0 },
      {
        session_id,
        state: 'running',
        command: 'echo hi; sleep 1000 # one',
        cwd: '',
        environment_id: place().environment.id,
        tty: false,
        lifetime: 'turn',
        age_seconds: 0,
        output_bytes: 3,
      },
    )
  })

  test('a kill ends everything that it has started, and tells the last that was said', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start('sleep 1000 & sleep 1000 & echo up; wait # tree')
    const { output, exitCode, sessionId, notes } = await talk.run('kill_session', { session_id })
    assert.deepEqual([output, exitCode, sessionId], ['', 137, undefined])
    assert.deepEqual(notes, ['Process was ended by the harness: kill_session was called'])
    assert.equal(await running(talk), 0)
    const again = await talk.run('kill_session', { session_id })
    assert.ok(again.notes.includes('It had ended before'))
  })

  test('a kill with a grace lets it say goodbye', async () => {
    await using talk = new Talk(place())
    const cmd = "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done"
    const session_id = await talk.start(cmd, { until: { match: 'up' } })
    const { output, exitCode } = await talk.run('kill_session', { session_id, grace_ms: 20_000 })
    assert.match(output, /bye\n$/)
    assert.equal(exitCode, 3)
    const stubborn = await talk.start("trap '' TERM; echo up; while :; do sleep 0.05; done", { until: { match: 'up' } })
    assert.equal((await talk.run('kill_session', { session_id: stubborn, grace_ms: 300 })).exitCode, 137)
  })

  test('with the turn ends what was started for it, and the rest is named', async () => {
    await using talk = new Talk(place())
    const turn = await talk.turn
    const mine = await talk.start(SLEEP, { lifetime: 'turn' })
    const kept = await talk.start(SLEEP)
    const detached = await talk.start(SLEEP, { lifetime: 'detached' })
    const { ended, surviving } = await turn.end()
    assert.deepEqual([named(ended), named(surviving)], [[mine], [kept, detached].sort()])
    const next = await talk.newTurn()
    const another = await talk.start(SLEEP, { lifetime: 'turn' })
    const receipt = await talk.run('write_stdin', { session_id: mine })
    assert.match(receipt.notes.join(), /ended by the harness: the turn is over/)
    assert.deepEqual(named((await next.end()).ended), [another])
    await talk.newTurn()
    await talk.run('kill_session', { session_id: detached })
  })

  test('an interrupt gives up what waits, and leaves what is not of the turn', async () => {
    await using talk = new Talk(place())
    const turn = await talk.turn
    const mine = talk.call('exec_command', { cmd: `echo 1; ${SLEEP}`, lifetime: 'turn' })
    const other = talk.call('exec_command', { cmd: `echo 2; ${SLEEP}` })
    await until(() => talk.ofType('exec_output').length === 2)
    const { ended, surviving } = await turn.interrupt()
    for (const answer of [mine, other]) {
      assert.match((await answer).text, /^Wall time: \d+\.\d seconds\naborted by user$/)
    }
    assert.deepEqual([ended.length, surviving.length], [1, 1])
    await talk.newTurn()
    const session_id = surviving[0]!.sessionId
    const { output, sessionId } = await talk.run('write_stdin', { session_id, until: 'output' })
    assert.deepEqual([output, sessionId], ['2\n', session_id])
  })

  test('with the conversation ends everything but what is detached', async () => {
    const talk = new Talk(place())
    await talk.start(`${SLEEP} # closing`)
    await talk.start(`${SLEEP} # closing`, { lifetime: 'turn' })
    const detached = await talk.start(`${SLEEP} # closing`, { lifetime: 'detached' })
    await talk.conversation.close()
    await talk.conversation.close()
    assert.equal(await running(talk), 1)
    assert.equal(await talk.refusal('exec_command', { cmd: 'true' }), 'the conversation is closed')
    const ends = talk.ofType('exec_end')
    assert.deepEqual(
      ends.map(({ state, endedBy }) => [state, endedBy]),
      Array(2).fill(['killed', 'the conversation is over']),
    )
    assert.ok(!ends.some(({ sessionId }) => sessionId === detached))
    await place()
      .environment.processes.list()
      .then(async (list) => {
        for (const { pid, argv, state } of list) {
          if (state === 'running' && argv.at(-1)!.includes('# closing')) process.kill(pid, 'SIGKILL')
        }
      })
  })

  test('a conversation that closes while somebody is asked starts nothing', async () => {
    let answer!: () => void
    const talk = new Talk(place(), {
      settings: { permissions: 'workspace' },
      approvers: [
        {
          source: 'user',
          ask: () =>
            new Promise((resolve) => {
              answer = () => resolve({ kind: 'approved' })
            }),
        },
      ],
    })
    const asking = talk.call('exec_command', { cmd: SLEEP, sandbox_permissions: 'require_escalated' })
    await until(() => talk.ofType('approval_asked').length > 0)
    await talk.conversation.close()
    answer()
    assert.equal((await asking).text, 'the conversation is closed')
    assert.deepEqual(talk.ofType('exec_begin'), [])
  })

  test('a call that is given up leaves its process, which can be used', async () => {
    await using talk = new Talk(place())
    const controller = new AbortController()
    const answer = talk.call('exec_command', { cmd: 'cat', tty: true }, { signal: controller.signal })
    await until(() => talk.ofType('exec_begin').length > 0)
    controller.abort()
    assert.equal((await answer).success, false)
    const { sessionId } = talk.ofType('exec_begin')[0]!
    const { output } = await talk.run('write_stdin', {
      session_id: sessionId,
      chars: 'still there\n',
      until: { match: 'still there' },
    })
    assert.match(output, /still there/)
  })

  test('an end that nobody sees is told once, and can be taken once', async () => {
    await using talk = new Talk(place())
    let told = 0
    talk.conversation.onCompletion(() => told++)
    const held = gate(place())
    const sessionId = await talk.start(`echo seen; ${held.wait}; seq 1 5000; exit 3`)
    assert.deepEqual(await talk.conversation.takeCompletions(), [])
    held.open()
    await until(() => told === 1)
    const completions = await talk.conversation.takeCompletions()
    assert.deepEqual(await talk.conversation.takeCompletions(), [])
    const [{ tail, durationMs, ...completion }] = completions as [(typeof completions)[0]]
    assert.deepEqual(completion, {
      sessionId,
      callId: 'call-1',
      command: talk.ofType('exec_begin')[0]!.command,
      exitCode: 3,
    })
    assert.ok(tail.endsWith('\n4999\n5000\n') && tail.length <= 2000 && durationMs > 0)
    const message = completionMessage(completions)!
    assert.match(
      message,
      new RegExp(`^Session ${sessionId} \\("echo seen; .*"\\) exited with code 3 after \\d+\\.\\d s`),
    )
    const late = await talk.run('write_stdin', { session_id: sessionId })
    assert.deepEqual([late.exitCode, late.output, late.notes], [3, '', ['Its end was told before']])
    assert.equal(told, 1)
  })

  test('an end that somebody sees is not told again', async () => {
    await using talk = new Talk(place())
    let told = 0
    talk.conversation.onCompletion(() => told++)
    await talk.run('exec_command', { cmd: 'true' })
    const held = gate(place())
    const session_id = await talk.start(held.wait)
    const waiting = talk.run('write_stdin', { session_id, until: 'exit' })
    held.open()
    await waiting
    await talk.run('kill_session', { session_id: await talk.start(SLEEP) })
    assert.deepEqual(await talk.conversation.takeCompletions(), [])
    assert.equal(told, 0)
  })

  test('an end that somebody waited for and gave up is told', async () => {
    await using talk = new Talk(place())
    let told = 0
    talk.conversation.onCompletion(() => told++)
    const held = gate(place())
    const controller = new AbortController()
    const waiting = talk.call(
      'exec_command',
      { cmd: `echo up; ${held.wait}; echo down` },
      { signal: controller.signal },
    )
    await until(() => talk.ofType('exec_output').length > 0)
    // It exits while it is waited for, and whoever waits gives up before its end is told.
    talk.conversation.onEvent(
      ({ type }) => type === 'exec_output' && talk.ofType('exec_output').length > 1 && controller.abort(),
    )
    held.open()
    const { success } = await waiting
    assert.equal(success, false)
    await until(() => told === 1)
    assert.equal((await talk.conversation.takeCompletions()).length, 1)
  })
})
