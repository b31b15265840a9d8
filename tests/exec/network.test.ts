import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { get, startOrigin } from '../environments/behaviour/network.ts'
import { PLACES, type Place, talkThen } from './place.ts'

/** What is on this machine is a place like others. */
const managed = { network: { allowLocalBinding: true } }
const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'

for (const [where, open] of Object.entries(PLACES)) {
  describe(`where commands want to go, ${where}`, { skip }, () => {
    let place: Place
    before(async () => {
      place = await open()
    })
    after(async () => {
      await place[Symbol.asyncDispose]()
    })

    test('somebody is asked about a host, while the command and its wait stand still, and for the conversation once', async () => {
      await using origin = await startOrigin()
      await talkThen(place, { settings: managed }, [{ kind: 'approved_for_session' }], async (talk, asked) => {
        for (let time = 1; time <= 2; time++) {
          const { output } = await talk.run('exec_command', { cmd: get(origin.host) })
          assert.match(output, /200 OK.*origin/s)
          assert.equal(origin.visits.length, time)
        }
        const { subject } = asked[0]!
        assert.ok(
          subject.kind === 'network' && subject.host === '127.0.0.1' && subject.command.includes(get(origin.host)),
        )
        assert.deepEqual(
          talk.ofType('network_decided').map(({ allowed }) => allowed),
          [true, true],
        )
      })
    })

    test('a no ends the command, and the model is told which host it was and what was said', async () => {
      await using origin = await startOrigin()
      await talkThen(place, { settings: managed }, [{ kind: 'denied', rejection: 'not from here' }], async (talk) => {
        const { notes, sessionId } = await talk.run('exec_command', { cmd: `${get(origin.host)}; sleep 600` })
        assert.equal(sessionId, undefined)
        assert.match(notes.join('\n'), /Process was ended by the harness/)
        assert.ok(notes.join('\n').includes(`Network access to "http://${origin.host}" was denied: not from here`))
        assert.equal(origin.visits.length, 0)
      })
    })

    test('a rule denies without a question, and a rule that is saved spares the next one', async () => {
      await using origin = await startOrigin()
      const settings = { network: { ...managed.network, domains: { 'denied.test': 'deny' as const } } }
      await talkThen(place, { settings }, [], async (talk) => {
        const { notes } = await talk.run('exec_command', { cmd: `${get('denied.test')}; sleep 600` })
        assert.match(notes.join('\n'), /"denied.test" was blocked: a rule denies this host/)
      })
      const allow = { kind: 'network_policy_amendment', host: '127.0.0.1', action: 'allow', scope: 'project' } as const
      await talkThen(place, { settings: managed }, [allow], async (talk) => {
        for (let time = 0; time < 2; time++) await talk.run('exec_command', { cmd: get(origin.host) })
        assert.deepEqual(talk.saved, ['project: network_rule(host="127.0.0.1", protocol="http", decision="allow")'])
        assert.equal(origin.visits.length, 2)
      })
    })

    test('what rules say of a host holds without a question', async () => {
      await using origin = await startOrigin()
      const rule = (host: string, decision: string) =>
        `network_rule(host="${host}", protocol="http", decision="${decision}")\n`
      const rules = rule('127.0.0.1', 'allow') + rule('closed.test', 'deny')
      // A rule that says to ask is not overruled by settings that allow everybody.
      const settings = { network: { ...managed.network, domains: { '*': 'allow' as const } } }
      await talkThen(place, { rules: rule('127.0.0.1', 'prompt'), settings }, [{ kind: 'denied' }], async (talk) => {
        await talk.run('exec_command', { cmd: `${get(origin.host)}; sleep 600` })
        assert.equal(origin.visits.length, 0)
      })
      await talkThen(place, { rules, settings: { ...managed, approvalPolicy: 'never' } }, [], async (talk) => {
        assert.match((await talk.run('exec_command', { cmd: get(origin.host) })).output, /200 OK/)
        const { notes } = await talk.run('exec_command', { cmd: `${get('closed.test')}; sleep 600` })
        assert.match(notes.join('\n'), /"closed.test" was blocked/)
      })
    })

    test('where nobody may be asked it is blocked', async () => {
      await using origin = await startOrigin()
      await talkThen(place, { settings: { ...managed, approvalPolicy: 'never' } }, [], async (talk) => {
        const { notes } = await talk.run('exec_command', { cmd: `${get(origin.host)}; sleep 600` })
        assert.match(notes.join('\n'), /was blocked by policy/)
        assert.equal(origin.visits.length, 0)
      })
    })

    test('an answer that stops the turn stops it', async () => {
      await using origin = await startOrigin()
      await talkThen(place, { settings: managed }, [{ kind: 'abort' }], async (talk) => {
        const { text } = await talk.call('exec_command', { cmd: `${get(origin.host)}; sleep 600` })
        assert.match(text, /aborted by user/)
        assert.ok((await talk.turn).signal.aborted)
        await talk.conversation.close()
      })
    })

    test('a denial is no reason to try without sandbox', async () => {
      await using origin = await startOrigin()
      const settings = {
        ...managed,
        approvalPolicy: { granular: { sandboxApproval: true, rules: true, requestPermissions: true } },
      }
      await talkThen(place, { settings }, [{ kind: 'denied' }], async (talk) => {
        await talk.run('exec_command', { cmd: `${get(origin.host)}; sleep 600` })
        assert.equal(talk.ofType('exec_begin').length, 1)
      })
    })
  })
}
