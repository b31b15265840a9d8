import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scriptedApprover } from '@waldo/exec'
import { until } from '../environments/collect.ts'
import { countedIds, gate, inEachPlace, Talk } from './place.ts'

inEachPlace('sessions', (place) => {
  test('a shell keeps what it was told, and knows nothing of another', async () => {
    await using talk = new Talk(place())
    const shell = { tty: true, until: { match: '[$#] $' } }
    const [one, two] = await Promise.all([talk.start('exec sh -i', shell), talk.start('exec sh -i', shell)])
    const say = async (session_id: number, chars: string, match: string) =>
      (await talk.run('write_stdin', { session_id, chars, until: { match } })).output
    await say(one, 'export WHO=one; cd /; echo set-$((1+1))\n', 'set-2')
    await say(two, 'export WHO=two; echo set-$((1+1))\n', 'set-2')
    assert.match(await say(one, 'echo "<$WHO@$(pwd)>"\n', '^<'), /<one@\/>/)
    assert.match(await say(two, 'echo "<$WHO@"\n', '^<'), /<two@/)
    const { exitCode, sessionId } = await talk.run('write_stdin', { session_id: one, chars: 'exit 7\n', until: 'exit' })
    assert.deepEqual({ exitCode, sessionId }, { exitCode: 7, sessionId: undefined })
  })

  test('an end is told once, and later looks get a receipt', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const session_id = await talk.start(`${held.wait}; echo last; exit 3`)
    held.open()
    const first = await talk.run('write_stdin', { session_id, until: 'exit' })
    assert.deepEqual([first.output, first.exitCode, first.notes], ['last\n', 3, []])
    const late = await talk.run('write_stdin', { session_id })
    assert.deepEqual([late.output, late.exitCode, late.notes], ['', 3, ['Its end was told before']])
    const written = await talk.run('write_stdin', { session_id, chars: 'x' })
    assert.equal(written.exitCode, 3)
    assert.match(written.notes.join(), /Nothing was written/)
    assert.equal(talk.ofType('exec_end').length, 1)
  })

  test('a number that never was one is unknown', async () => {
    await using talk = new Talk(place())
    for (const tool of ['write_stdin', 'read_output', 'kill_session']) {
      assert.equal(await talk.refusal(tool, { session_id: 4711 }), 'Unknown process id 4711')
    }
    for (const session_id of [-1, 0, Number.MAX_SAFE_INTEGER]) {
      assert.equal(await talk.refusal('write_stdin', { session_id }), `Unknown process id ${session_id}`)
    }
    assert.match(await talk.refusal('write_stdin', { session_id: 1.5 }), /whole number/)
  })

  test('a number is given back however a call ends that has started nothing', async () => {
    const { ids, taken } = countedIds()
    const approver = scriptedApprover([{ kind: 'denied' }])
    await using talk = new Talk(place(), { ids, approvers: [approver], settings: { permissions: 'workspace' } })
    const cmd = 'echo ran'
    await talk.refusal('exec_command', { cmd, sandbox_permissions: 'require_escalated' })
    await talk.refusal('exec_command', { cmd, workdir: 'no/such/place' })
    await talk.refusal('exec_command', { cmd, login: true })
    await talk.refusal('exec_command', { cmd, shell: 'fish' })
    await talk.refusal('exec_command', { cmd: 'echo \0' })
    await talk.refusal('exec_command', { cmd, workdir: '\0' })
    const aborted = await talk.call('exec_command', { cmd: 'sleep 1000' }, { signal: AbortSignal.abort() })
    assert.equal(aborted.text, 'Wall time: 0.1 seconds\naborted by user')
    assert.deepEqual(taken(), [])
    assert.deepEqual(talk.ofType('exec_begin'), [])
  })

  test('a number is kept for the receipt, and given back with the conversation', async () => {
    const { ids, taken } = countedIds()
    await using talk = new Talk(place(), { ids })
    await talk.run('exec_command', { cmd: 'true' })
    assert.deepEqual(taken(), [1000])
    const running = await talk.start('exec sleep 1000')
    assert.deepEqual(taken(), [1000, running])
    for (let i = 0; i < 130; i++) await talk.run('exec_command', { cmd: 'true' })
    assert.equal(taken().length, 129)
    assert.equal(await talk.refusal('write_stdin', { session_id: 999 }), 'Unknown process id 999')
    await talk.conversation.close()
    assert.deepEqual(taken(), [])
  })

  test('when there are too many, the one that was not used for longest has to go', async () => {
    const { ids } = countedIds()
    await using talk = new Talk(place(), { ids })
    const start = async (count: number) => {
      const started: number[] = []
      while (started.length < count) {
        const batch = Math.min(8, count - started.length)
        started.push(...(await Promise.all(Array.from({ length: batch }, () => talk.start('exec sleep 1000')))))
      }
      return started
    }
    const open = async () => {
      const { structured } = await talk.call('list_sessions', {})
      return (structured as { sessions: { session_id: number }[] }).sessions.map(({ session_id }) => session_id)
    }
    const first = await start(58)
    const args = { cmd: 'exec sleep 1000', yield_time_ms: 250 }
    assert.deepEqual((await talk.run('exec_command', args)).notes, [])
    assert.match((await talk.run('exec_command', args)).notes.join(), /^Warning: 60 processes are open and at most 64/)
    await start(4)
    assert.equal((await open()).length, 64)

    // The oldest is waited for, the second was used since: it is the third.
    const waiting = talk.run('write_stdin', { session_id: first[0], until: 'exit' })
    await talk.run('write_stdin', { session_id: first[1], until: { idle_ms: 1 } })
    const { notes } = await talk.run('exec_command', args)
    assert.match(notes.join('\n'), new RegExp(`session ${first[2]} \\("exec sleep 1000"\\) had to make room`))
    const left = await open()
    assert.equal(left.length, 64)
    assert.deepEqual(
      first.slice(0, 4).map((id) => left.includes(id)),
      [true, true, false, true],
    )
    await until(() => talk.ofType('exec_end').length === 1)
    const [end] = talk.ofType('exec_end')
    assert.deepEqual([end!.sessionId, end!.state], [first[2], 'killed'])
    const receipt = await talk.run('write_stdin', { session_id: first[2] })
    assert.match(receipt.notes.join('\n'), /ended by the harness: more than 64 processes were open/)
    assert.doesNotMatch(receipt.notes.join('\n'), /told before/)

    // One that has ended goes first, though it was used later.
    const victim = first[20]!
    const ended = await talk.start('sleep 0.5')
    await until(() => talk.ofType('exec_end').some(({ sessionId }) => sessionId === ended))
    await start(8)
    const before = await open()
    await start(1)
    const after = await open()
    assert.ok(before.includes(victim) && after.includes(victim))
    assert.ok(!after.includes(ended))
    await talk.call('kill_session', { session_id: first[0] })
    assert.match((await waiting).notes.join(), /kill_session was called/)
  })
})
