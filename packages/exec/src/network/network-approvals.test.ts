import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ApprovalPolicy } from '../approvals/approval-policy.ts'
import {
  amendment,
  decide,
  FOR_SESSION,
  networkConversation,
  REQUEST,
  settled,
  YES,
} from './fixtures/network-conversation.ts'
import type { NetworkDenial } from './network-denial.ts'

const NAME = '"https://example.test:443"'

describe('a host that no rule allows', () => {
  test('is asked about, with who wants to reach it, and reached once', async () => {
    const { run, question, answer, decided } = networkConversation()
    const domains = { 'known.test': 'allow' } as const
    const execution = run({ domains, mode: 'limited' })
    assert.deepEqual([execution.network.domains, execution.network.mode], [domains, 'limited'])
    const first = decide(execution)
    const { subject, sandbox, reason, decisions } = await question()
    assert.deepEqual(subject, {
      ...{ kind: 'network', host: 'example.test', port: 443, protocol: 'https' },
      command: ['curl', 'example.test'],
    })
    assert.deepEqual([sandbox.kind, reason], ['inside', 'no rule allows example.test'])
    assert.deepEqual(decisions, ['approved', 'approved_for_session', 'network_policy_amendment', 'denied', 'abort'])
    await answer(YES)
    assert.equal(await first, 'allow')
    assert.deepEqual(decided(), [
      {
        ...{ type: 'network_decided', callId: 'call-1', turnId: 'turn-1', environmentId: 'local' },
        ...{ host: 'example.test', port: 443, protocol: 'https_connect', allowed: true, reason: 'approved' },
      },
    ])
    const second = decide(execution)
    await answer(YES)
    assert.equal(await second, 'allow')
    assert.equal(execution.denial(), undefined)
  })

  test('or that rules ask about whatever allows it, is asked about as such, and without a rule that would not help', async () => {
    // The executor asks about the host, whatever port a rule names.
    for (const name of ['example.test', ' Example.TEST', 'example.test:443', 'example.test:80']) {
      const { run, queue, question, answer } = networkConversation()
      const domains = { '*': 'allow', [name]: 'none' } as const
      const execution = run({ domains })
      assert.deepEqual(execution.network.domains, domains)
      const asked = decide(execution)
      const { reason, why, decisions } = await question()
      assert.equal(reason, 'a rule says to ask about example.test')
      assert.deepEqual([why[0]?.source, why[0]?.otherwise], ['rule', 'an answer for the conversation'])
      assert.deepEqual(decisions, ['approved', 'approved_for_session', 'denied', 'abort'])
      await answer(FOR_SESSION)
      assert.equal(await asked, 'allow')
      assert.equal(await decide(run({ domains })), 'allow')
      assert.equal(queue.list().length, 0)
    }
    for (const domains of [{ 'other.test': 'none' }, { 'example.test': 'allow' }] as const) {
      const { run, question, answer } = networkConversation()
      const asked = decide(run({ domains }))
      assert.equal((await question()).reason, 'no rule allows example.test')
      await answer(YES)
      await asked
    }
  })

  test('is asked about once by those who want it at the same time', async () => {
    const { run, queue, answer, decided } = networkConversation()
    const execution = run()
    const requests = [decide(execution), decide(execution), decide(execution, { ...REQUEST, host: 'EXAMPLE.TEST' })]
    const other = decide(run({ callId: 'call-2' }))
    await settled()
    assert.deepEqual(
      queue.list().map(({ callId }) => callId),
      ['call-1', 'call-2'],
    )
    await answer(YES)
    assert.deepEqual(await Promise.all(requests), ['allow', 'allow', 'allow'])
    await answer({ kind: 'denied' })
    assert.notEqual(await other, 'allow')
    assert.deepEqual(
      decided().map(({ allowed }) => allowed),
      [true, true, true, false],
    )
  })

  test('is told apart by port, protocol and environment', async () => {
    const { run, queue, answer } = networkConversation()
    const execution = run()
    const first = decide(execution)
    await answer(FOR_SESSION)
    assert.equal(await first, 'allow')
    assert.equal(await decide(run({ callId: 'call-2', turnId: 'turn-2' })), 'allow')
    const others = [
      decide(execution, { ...REQUEST, port: 8443 }),
      decide(execution, { ...REQUEST, protocol: 'http' }),
      decide(run({ environmentId: 'remote' })),
    ]
    await settled()
    assert.equal(queue.list().length, 3)
    for (const { id } of queue.list()) queue.decide(id, { kind: 'denied' })
    await Promise.all(others)
  })

  test('is blocked without a question where nobody may be asked', async () => {
    const granular = { granular: { sandboxApproval: false, rules: true, requestPermissions: true } }
    const policies: readonly ApprovalPolicy[] = ['never', granular]
    for (const more of [...policies.map((approvalPolicy) => ({ approvalPolicy })), { signal: AbortSignal.abort() }]) {
      const { run, queue, decided } = networkConversation()
      const execution = run(more)
      assert.deepEqual(await decide(execution), { deny: 'not_allowed' })
      assert.equal(execution.denial(), `Network access to ${NAME} was blocked by policy.`)
      assert.equal(queue.list().length, 0)
      assert.equal(decided()[0]?.reason, execution.denial())
    }
  })

  test('is denied in the words of whoever denies it, to the call and not to the process', async () => {
    const cases = [
      [{ kind: 'denied', rejection: 'use the mirror' }, 'use the mirror', 'reviewed'],
      [{ kind: 'denied' }, 'the user said no.', 'reviewed'],
      [{ kind: 'timed_out' }, 'nobody answered in time.', 'reviewed'],
      [{ kind: 'abort' }, 'the turn was stopped.', 'stopped'],
      [amendment('allow', 'other.test'), 'the answer was about another host, "other.test".', 'reviewed'],
      [
        { kind: 'approved_execpolicy_amendment', amendment: { prefix: ['curl'] }, scope: 'user' },
        'the answer was a rule for commands, not for hosts.',
        'reviewed',
      ],
    ] as const
    for (const [decision, why, kind] of cases) {
      const { run, answer } = networkConversation()
      const execution = run()
      const told: NetworkDenial[] = []
      execution.onDenied((denial) => told.push(denial))
      const asked = decide(execution)
      await answer(decision)
      assert.deepEqual(await asked, { deny: 'not_approved' })
      const text = `Network access to ${NAME} was denied: ${why}`
      assert.equal(execution.denial(), text)
      assert.deepEqual(told, [{ kind, text }])
      // Whoever comes late hears of it, too.
      const late: NetworkDenial[] = []
      execution.onDenied((denial) => late.push(denial))
      assert.deepEqual(late, [{ kind, text }])
    }
  })

  test('is denied to all who wait when the one who asked is gone, and the call is told', async () => {
    const { run, queue, clock, question } = networkConversation()
    const execution = run()
    const connection = new AbortController()
    const asked = decide(execution, REQUEST, connection.signal)
    const waiting = decide(execution)
    await question()
    clock.ms += 1234
    connection.abort()
    assert.deepEqual(await Promise.all([asked, waiting]), [{ deny: 'not_allowed' }, { deny: 'not_allowed' }])
    const text = 'Network request disconnected after 1234 ms, before approval could complete'
    assert.equal(execution.denial(), text)
    assert.equal(queue.list().length, 0)
  })

  test('is still asked about for the others when one of them is gone', async () => {
    const { run, answer, question } = networkConversation()
    const execution = run()
    const connection = new AbortController()
    const asked = decide(execution)
    const gone = decide(execution, REQUEST, connection.signal)
    await question()
    connection.abort()
    assert.notEqual(await gone, 'allow')
    assert.equal(execution.denial(), undefined)
    await answer(YES)
    assert.equal(await asked, 'allow')
  })

  test('is denied when the turn ends', async () => {
    const { run, question } = networkConversation()
    const turn = new AbortController()
    const execution = run({ signal: turn.signal })
    const asked = decide(execution)
    await question()
    turn.abort()
    assert.deepEqual(await asked, { deny: 'not_approved' })
    assert.match(execution.denial() ?? '', /the turn was stopped/)
  })

  test('keeps not more than some hundreds of requests waiting', async () => {
    const { run, answer } = networkConversation()
    const execution = run()
    const requests = Array.from({ length: 256 }, () => decide(execution))
    assert.notEqual(await decide(execution), 'allow')
    assert.match(execution.denial() ?? '', /256 requests of this command are waiting/)
    await answer(YES)
    assert.deepEqual(new Set(await Promise.all(requests)), new Set(['allow']))
  })
})
