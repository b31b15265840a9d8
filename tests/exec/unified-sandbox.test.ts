import assert from 'node:assert/strict'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scriptedApprover } from '@waldo/exec'
import { countedIds, gate, inEachPlace, Talk } from './place.ts'

const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'

inEachPlace('in a sandbox', (place) => {
  for (const permissions of ['workspace', 'read-only'] as const) {
    const settings = { permissions }

    test(`a denied write is told as such (${permissions})`, { skip }, async () => {
      await using talk = new Talk(place(), { settings })
      const path = join(process.env.HOME!, `.waldo-unified-${process.pid}`)
      const { exitCode, notes, sessionId } = await talk.run('exec_command', { cmd: `echo x > ${path}` })
      assert.notEqual(exitCode, 0)
      assert.equal(sessionId, undefined)
      assert.match(notes.join('\n'), /^Sandbox: denied write /)
      assert.ok(!existsSync(path))
      assert.ok(talk.ofType('exec_end')[0]!.denials.length > 0)
      assert.equal((await talk.run('exec_command', { cmd: 'false' })).notes.join(), '')
    })

    test(`a denied write is told by whoever sees the end (${permissions})`, { skip }, async () => {
      await using talk = new Talk(place(), { settings })
      const held = gate(place())
      const session_id = await talk.start(`${held.wait}; touch /etc/waldo-unified`)
      held.open()
      const { exitCode, notes } = await talk.run('write_stdin', { session_id, until: 'exit' })
      assert.notEqual(exitCode, 0)
      assert.match(notes.join('\n'), /^Sandbox: denied write /)
    })

    test(`terminals, waits, ends and kills are as they are outside (${permissions})`, { skip }, async () => {
      await using talk = new Talk(place(), { settings })
      const found = await talk.run('exec_command', { cmd: 'echo $WALDO_NETWORK_DISABLED; exit 3' })
      assert.deepEqual([found.output, found.exitCode], ['1\n', 3])
      const echo = await talk.start('cat', { tty: true })
      const said = await talk.run('write_stdin', { session_id: echo, chars: 'hi\n', until: { match: 'hi' } })
      assert.match(said.output, /^hi/)
      const left = await talk.run('write_stdin', { session_id: echo, chars: '\u0004', until: 'exit' })
      assert.equal(left.exitCode, 0)
      const interrupted = await talk.start('exec sleep 1000')
      const ctrlC = await talk.run('write_stdin', { session_id: interrupted, chars: '\u0003', until: 'exit' })
      assert.equal(ctrlC.exitCode, 130)
      const killed = await talk.run('kill_session', { session_id: await talk.start('sleep 1000; echo no') })
      assert.equal(killed.exitCode, 137)
      const begins = talk.ofType('exec_begin')
      assert.ok(begins.every(({ sandboxed }) => sandboxed))
      assert.equal(talk.ofType('exec_end').length, begins.length)
    })
  }

  /** Everybody is asked about everything: then another attempt needs no further question. */
  const untrusted = { permissions: 'workspace', approvalPolicy: 'untrusted' } as const
  const yes = { kind: 'approved' } as const

  test('another attempt has the number of the first, and one receipt', { skip }, async () => {
    const { ids, taken } = countedIds()
    await using talk = new Talk(place(), { ids, settings: untrusted, approvers: [scriptedApprover([yes])] })
    const held = gate(place())
    const session_id = await talk.start(
      `${held.wait}; touch /etc/waldo-unified && rm /etc/waldo-unified && echo outside`,
    )
    held.open()
    const { output, exitCode } = await talk.run('write_stdin', { session_id, until: 'exit' })
    assert.deepEqual([output, exitCode], ['outside\n', 0])
    assert.deepEqual(taken(), [session_id])
    assert.deepEqual(
      talk.ofType('exec_begin').map(({ attempt, sessionId, sandboxed }) => ({ attempt, sessionId, sandboxed })),
      [
        { attempt: 1, sessionId: session_id, sandboxed: true },
        { attempt: 2, sessionId: session_id, sandboxed: false },
      ],
    )
    assert.equal(talk.ofType('exec_end').length, 2)
    const late = await talk.run('write_stdin', { session_id })
    assert.deepEqual([late.exitCode, late.notes], [0, ['Its end was told before']])
  })

  test('another attempt that cannot start gives the number back', { skip }, async () => {
    const { ids, taken } = countedIds()
    await using talk = new Talk(place(), { ids, settings: untrusted, approvers: [scriptedApprover([yes, yes])] })
    const workdir = 'goes'
    const directory = join(place().directory, workdir)
    mkdirSync(directory)
    const leave = `rmdir ${directory}; touch /etc/waldo-unified`
    assert.match(await talk.refusal('exec_command', { cmd: leave, workdir }), /^exec_command failed for/)
    assert.deepEqual(taken(), [])
    mkdirSync(directory)
    const held = gate(place())
    const session_id = await talk.start(`${held.wait}; ${leave}`, { workdir })
    held.open()
    await talk.refusal('write_stdin', { session_id, until: 'exit' })
    assert.deepEqual(taken(), [])
    assert.equal(talk.ofType('exec_end').length, 2)
    assert.equal(await talk.refusal('write_stdin', { session_id }), `Unknown process id ${session_id}`)
  })
})
