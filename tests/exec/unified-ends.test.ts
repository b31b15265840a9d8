import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../environments/collect.ts'
import { gate, inEachPlace, Talk } from './place.ts'

/** The events of each process, by the call that began it. */
function livesOf(talk: Talk): Record<string, string> {
  const lives: Record<string, string> = {}
  for (const { type, callId } of talk.events) {
    if (type === 'exec_begin' || type === 'exec_output' || type === 'exec_end') {
      lives[callId] = `${lives[callId] ?? ''}${type.slice(5)} `
    }
  }
  return lives
}

inEachPlace('the end of a process', (place) => {
  test('has one beginning and one end, whatever it was', async () => {
    await using talk = new Talk(place())
    await talk.run('exec_command', { cmd: 'true' })
    await talk.run('exec_command', { cmd: 'printf x' })
    await talk.refusal('exec_command', { cmd: 'true', workdir: 'not/there' })
    const killed = await talk.start('exec sleep 1000')
    await talk.run('kill_session', { session_id: killed })
    await talk.run('kill_session', { session_id: killed })
    const held = gate(place())
    const polled = await talk.start(held.wait)
    held.open()
    await talk.run('write_stdin', { session_id: polled, until: 'exit' })
    await talk.run('write_stdin', { session_id: polled })
    assert.deepEqual(livesOf(talk), {
      'call-1': 'begin end ',
      'call-2': 'begin output end ',
      'call-4': 'begin end ',
      'call-7': 'begin end ',
    })
  })

  test('is told with everything that it said', async () => {
    await using talk = new Talk(place())
    await talk.run('exec_command', { cmd: 'echo out; echo err >&2; exit 6' })
    const [begin] = talk.ofType('exec_begin')
    const [end] = talk.ofType('exec_end')
    assert.deepEqual(
      [begin!.command, begin!.attempt, begin!.sandboxed, begin!.tty],
      ['echo out; echo err >&2; exit 6', 1, false, false],
    )
    assert.deepEqual(end!.output.split('\n').sort(), ['', 'err', 'out'])
    assert.deepEqual([end!.exitCode, end!.state, end!.signal, end!.omittedBytes], [6, 'exited', null, 0])
    assert.equal(end!.callId, begin!.callId)
  })

  test('by a signal has a code above 128 and a name, and a code above 128 has none', async () => {
    await using talk = new Talk(place())
    const { exitCode, notes, text } = await talk.run('exec_command', { cmd: 'kill -SEGV $$' })
    assert.deepEqual([exitCode, notes], [139, ['Process was ended by SIGSEGV']])
    assert.match(text, /Process exited with code 139\nProcess was ended by SIGSEGV\n/)
    const other = await talk.run('exec_command', { cmd: 'exit 139' })
    assert.deepEqual([other.exitCode, other.notes], [139, []])
  })

  test('is not held up by a child that keeps the output open, whose words are not lost', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const cmd = `(${held.wait}; echo late) & echo early; exit 2`
    const { output, exitCode, sessionId } = await talk.run('exec_command', { cmd, until: 'exit' })
    assert.deepEqual([output, exitCode, sessionId], ['early\n', 2, undefined])
    const [end] = talk.ofType('exec_end')
    assert.deepEqual([end!.output, end!.exitCode], ['early\n', 2])
    held.open()
    const session_id = end!.sessionId
    await until(async () => (await talk.call('read_output', { session_id })).text.endsWith('early\nlate\n'))
    const late = await talk.run('write_stdin', { session_id })
    assert.deepEqual([late.output, late.exitCode], ['late\n', 2])
    assert.equal(talk.ofType('exec_end').length, 1)
  })

  test('comes after the last that it said', async () => {
    await using talk = new Talk(place())
    await talk.run('exec_command', { cmd: "head -c 300000 /dev/zero | tr '\\0' x; echo end" })
    const life = livesOf(talk)['call-1']!
    assert.match(life, /^begin (output )+end $/)
    const [end] = talk.ofType('exec_end')
    assert.equal(end!.output.length, 300_004)
    const told = talk.ofType('exec_output').reduce((sum, { data }) => sum + data.length, 0)
    assert.equal(told, 300_004)
    assert.ok(talk.ofType('exec_output').every(({ data }) => data.length <= 8192))
  })

  test('of a program that does not exist is an answer, and so is a place that does not', async () => {
    await using talk = new Talk(place())
    assert.equal((await talk.run('exec_command', { cmd: 'no-such-program-here' })).exitCode, 127)
    const text = await talk.refusal('exec_command', { cmd: 'true', workdir: 'not/there' })
    assert.match(text, /^exec_command failed for `\S+ -c true`: .*not\/there/s)
    const long = await talk.refusal('exec_command', { cmd: `: ${'x'.repeat(200_000)}`, workdir: 'not/there' })
    assert.ok(long.length < 5000)
  })

  test('is told to one of two who look, and the other gets the same', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start('exec sleep 1000')
    const waiting = talk.run('write_stdin', { session_id, until: 'exit' })
    const killed = await talk.run('kill_session', { session_id })
    const looked = await waiting
    for (const { exitCode, sessionId, notes } of [killed, looked]) {
      assert.deepEqual([exitCode, sessionId], [137, undefined])
      assert.match(notes.join(), /ended by the harness: kill_session was called/)
    }
    const [end] = talk.ofType('exec_end')
    assert.deepEqual([end!.state, end!.endedBy], ['killed', 'kill_session was called'])
  })
})
