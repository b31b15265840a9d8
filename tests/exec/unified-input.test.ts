import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../environments/collect.ts'
import { gate, inEachPlace, Talk } from './place.ts'

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

inEachPlace('writing to a process', (place) => {
  test('Ctrl-C interrupts what has only pipes', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start('exec sleep 1000')
    const { exitCode, notes } = await talk.run('write_stdin', { session_id, chars: CTRL_C, until: 'exit' })
    assert.equal(exitCode, 130)
    assert.deepEqual(notes, ['Process was ended by SIGINT'])
    const [end] = talk.ofType('exec_end')
    assert.deepEqual([end!.state, end!.exitCode, end!.signal], ['exited', 130, 'SIGINT'])
  })

  test('a process that handles Ctrl-C goes on', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start("trap 'echo caught' INT; while :; do sleep 0.05; done")
    const match = { match: 'caught' }
    const { sessionId, output } = await talk.run('write_stdin', { session_id, chars: CTRL_C, until: match })
    assert.deepEqual([sessionId, output], [session_id, 'caught\n'])
  })

  test('anything else has nowhere to go without a terminal', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start('exec sleep 1000')
    for (const chars of ['yes\n', `${CTRL_C}${CTRL_C}`, `x${CTRL_C}`, CTRL_D]) {
      assert.equal(
        await talk.refusal('write_stdin', { session_id, chars }),
        'stdin is closed for this session; rerun exec_command with tty=true to keep stdin open',
      )
    }
    assert.equal((await talk.run('write_stdin', { session_id, until: { idle_ms: 1 } })).sessionId, session_id)
  })

  test('without a terminal the input has ended before it begins', async () => {
    await using talk = new Talk(place())
    assert.equal((await talk.run('exec_command', { cmd: 'cat; echo done' })).output, 'done\n')
  })

  test('a terminal echoes, interrupts and ends', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start('cat; echo ended; read line; echo not reached', { tty: true })
    const typed = await talk.run('write_stdin', { session_id, chars: 'hello\n', until: { match: 'hello.*' } })
    assert.match(typed.output, /hello\r\n/)
    const ended = await talk.run('write_stdin', { session_id, chars: CTRL_D, until: { match: 'ended' } })
    assert.match(ended.output, /ended/)
    const { exitCode } = await talk.run('write_stdin', { session_id, chars: CTRL_C, until: 'exit' })
    assert.equal(exitCode, 130)
  })

  test('what is written to one that has just ended is told as such, with its end', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const session_id = await talk.start(`${held.wait}; exit 9`, { tty: true })
    held.open()
    await until(() => talk.ofType('exec_end').length > 0)
    const { exitCode, notes } = await talk.run('write_stdin', { session_id, chars: 'too late\n' })
    assert.equal(exitCode, 9)
    assert.deepEqual(notes, ['Nothing was written: the process had ended'])
  })

  test('a lot of it is written, or refused with a reason, and the process is still there', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start('stty raw -echo; exec sleep 1000', { tty: true })
    const chars = 'x'.repeat(1_000_000)
    const { text, success } = await talk.call(
      'write_stdin',
      { session_id, chars },
      { signal: AbortSignal.timeout(5000) },
    )
    assert.ok(success || /^(write_stdin failed: |aborted)/.test(text), text)
    const killed = await talk.run('kill_session', { session_id })
    assert.match(killed.notes.join(), /kill_session was called/)
  })

  test('every look is told to whoever listens, but not one that finds it gone', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const session_id = await talk.start(`${held.wait}`)
    await talk.run('write_stdin', { session_id, until: { idle_ms: 1 } })
    held.open()
    await talk.run('write_stdin', { session_id, until: 'exit' })
    const { callId } = talk.ofType('exec_begin')[0]!
    assert.deepEqual(
      talk.ofType('terminal_interaction').map(({ callId, sessionId, stdin }) => ({ callId, sessionId, stdin })),
      [{ callId, sessionId: session_id, stdin: '' }],
    )
  })
})
