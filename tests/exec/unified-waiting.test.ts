import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Approver, ReviewDecision } from '@waldo/exec'
import { until } from '../environments/collect.ts'
import { gate, inEachPlace, Talk } from './place.ts'

inEachPlace('waiting for a process', (place) => {
  test('the end ends it, and output alone does not', async () => {
    await using talk = new Talk(place())
    const { output, exitCode } = await talk.run('exec_command', { cmd: 'echo one; sleep 0.4; echo two; exit 5' })
    assert.deepEqual({ output, exitCode }, { output: 'one\ntwo\n', exitCode: 5 })
  })

  test('a short wait is answered while it runs, and a later look has the rest and only the rest', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const first = await talk.run('exec_command', { cmd: `echo one; ${held.wait}; echo two`, yield_time_ms: 250 })
    assert.equal(first.output, 'one\n')
    assert.match(first.text, new RegExp(`Process running with session ID ${first.sessionId}\n`))
    held.open()
    const { output, exitCode, sessionId, text } = await talk.run('write_stdin', { session_id: first.sessionId })
    assert.deepEqual({ output, exitCode, sessionId }, { output: 'two\n', exitCode: 0, sessionId: undefined })
    assert.doesNotMatch(text, /session ID/)
  })

  test('two processes are waited for at once, one by one after the other', async () => {
    await using talk = new Talk(place())
    const [a, b, c] = [gate(place()), gate(place()), gate(place())]
    const first = await talk.start(`${a.wait}; echo a`)
    const second = await talk.start(`${b.wait}; echo b1; ${c.wait}; echo b2`)
    const answered: string[] = []
    const look = async (session_id: number, match: string) => {
      const { output } = await talk.run('write_stdin', { session_id, until: { match } })
      answered.push(output)
    }
    const looks = [look(first, 'a'), look(second, 'b1'), look(second, 'b2')]
    b.open()
    await looks[1]
    assert.deepEqual(answered, ['b1\n'])
    c.open()
    await looks[2]
    assert.deepEqual(answered, ['b1\n', 'b2\n'])
    a.open()
    await looks[0]
    assert.deepEqual(answered, ['b1\n', 'b2\n', 'a\n'])
  })

  test('whoever stands in line behind somebody else can give up', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const session_id = await talk.start(`${held.wait}; echo done`)
    const waiting = talk.run('write_stdin', { session_id, until: 'exit' })
    const { text, success } = await talk.call('write_stdin', { session_id }, { signal: AbortSignal.timeout(50) })
    assert.equal(success, false)
    assert.match(text, /^aborted by user after \d+\.\ds$/)
    held.open()
    assert.equal((await waiting).output, 'done\n')
  })

  test('time stands still while somebody is asked', async () => {
    let answer!: (decision: ReviewDecision) => void
    const approver: Approver = {
      source: 'user',
      ask: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    }
    await using talk = new Talk(place(), { approvers: [approver], settings: { permissions: 'workspace' } })
    const asking = talk.call('exec_command', { cmd: 'id', sandbox_permissions: 'require_escalated' })
    await until(() => talk.ofType('approval_asked').length > 0)
    let isAnswered = false
    const other = talk.start('echo started; exec sleep 1000').then((id) => {
      isAnswered = true
      return id
    })
    await until(() => talk.ofType('exec_output').length > 0)
    await new Promise((resolve) => setTimeout(resolve, 700))
    assert.equal(isAnswered, false)
    answer({ kind: 'denied' })
    await asking
    assert.equal(typeof (await other), 'number')
  })

  test('until it says something', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const args = { cmd: `${held.wait}; echo there; exec sleep 1000`, until: 'output' }
    const starting = talk.run('exec_command', args)
    held.open()
    const { output, sessionId } = await starting
    assert.equal(output, 'there\n')
    assert.notEqual(sessionId, undefined)
  })

  test('until it has ended, for longer than a write waits', async () => {
    await using talk = new Talk(place())
    const session_id = await talk.start('read line; sleep 1; echo got $line; exit 4', { tty: true })
    const { output, exitCode } = await talk.run('write_stdin', { session_id, chars: 'it\n', until: 'exit' })
    assert.equal(exitCode, 4)
    assert.match(output, /got it/)
  })

  test('until it has been quiet for a while', async () => {
    await using talk = new Talk(place())
    const cmd = 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done; exec sleep 1000'
    const { output, sessionId } = await talk.run('exec_command', { cmd, until: { idle_ms: 1500 } })
    assert.equal(output, '1\n2\n3\n4\n5\n6\n')
    assert.notEqual(sessionId, undefined)
  })

  test('until a line matches, also one that comes in pieces and never ends', async () => {
    await using talk = new Talk(place())
    const cmd = "echo no; printf 'rea'; sleep 0.3; printf 'dy> '; exec sleep 1000"
    const { output, sessionId } = await talk.run('exec_command', { cmd, until: { match: '^ready> $' } })
    assert.equal(output, 'no\nready> ')
    assert.notEqual(sessionId, undefined)
  })

  test('until a line of a terminal matches to its end', async () => {
    await using talk = new Talk(place())
    const args = { cmd: 'echo listening on 80; exec sleep 1000', tty: true, until: { match: 'on 80$' } }
    assert.match((await talk.run('exec_command', args)).output, /listening on 80/)
  })

  test('what came between two calls is not waited for once more', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const session_id = await talk.start(`${held.wait}; echo ready; exec sleep 1000`)
    held.open()
    await until(() => talk.ofType('exec_output').length > 0)
    assert.equal((await talk.run('write_stdin', { session_id, until: { match: '^ready$' } })).output, 'ready\n')
  })

  test('what was said before something is written is no answer to it', async () => {
    await using talk = new Talk(place())
    const held = gate(place())
    const cmd = `${held.wait}; printf '> '; while read -r line; do sleep 0.3; echo "got $line"; printf '> '; done`
    const session_id = await talk.start(cmd, { tty: true })
    held.open()
    await until(() => talk.ofType('exec_output').length > 0)
    const { output } = await talk.run('write_stdin', { session_id, chars: 'it\n', until: { match: '^> $' } })
    assert.match(output, /got it\r\n> $/)
  })

  test('a hostile pattern does not keep anybody', async () => {
    await using talk = new Talk(place())
    const cmd = "head -c 300000 /dev/zero | tr '\\0' a; exec sleep 1000"
    const args = { cmd, yield_time_ms: 500, until: { match: '(a|a)*(a|aa)*(a*)*b' }, max_output_tokens: 10 }
    assert.notEqual((await talk.run('exec_command', args)).sessionId, undefined)
  })

  test('what cannot be waited for is refused before anything runs', async () => {
    await using talk = new Talk(place())
    for (const wrong of [{}, { match: '(' }, { match: 'x', idle_ms: 5 }, { idle_ms: 0 }, { match: null }, 'never', 5]) {
      assert.match(await talk.refusal('exec_command', { cmd: 'echo ran', until: wrong }), /until/)
    }
    assert.match(await talk.refusal('exec_command', { cmd: 'echo ran', max_output_tokens: -1 }), /max_output_tokens/)
    assert.deepEqual(talk.ofType('exec_begin'), [])
  })

  test('a time that is too long is told', async () => {
    await using talk = new Talk(place())
    const { notes } = await talk.run('exec_command', { cmd: 'true', yield_time_ms: 90_000 })
    assert.deepEqual(notes, ['Warning: yield_time_ms 90000 is out of range: 30000 was used'])
    assert.deepEqual((await talk.run('exec_command', { cmd: 'true', yield_time_ms: 90_000, until: 'exit' })).notes, [])
  })
})
