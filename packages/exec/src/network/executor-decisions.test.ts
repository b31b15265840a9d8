import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blocked, decide, networkConversation } from './fixtures/network-conversation.ts'

describe('what the executor decides by itself', () => {
  test('is recorded with its reason', () => {
    const cases = [
      ['denied', 'a rule denies this host, and no approval can lift that'],
      ['not_allowed', 'no rule allows this host'],
      ['not_allowed_local', 'it is, or leads to, an address of the executor or of a private network'],
      ['method_not_allowed', 'only GET, HEAD and OPTIONS over plain HTTP are allowed'],
      ['proxy_disabled', 'the network is switched off for this command'],
      ['constructor', 'the network policy says no'],
    ] as const
    for (const [reason, detail] of cases) {
      const { run, decided } = networkConversation()
      const execution = run()
      execution.network.onDecision!(blocked({ host: 'a.test', reason }))
      assert.equal(execution.denial(), `Network access to "a.test" was blocked: ${detail}.`)
      assert.deepEqual(
        decided().map(({ allowed }) => allowed),
        [false],
      )
    }
    const { run } = networkConversation()
    const execution = run()
    execution.network.onDecision!(blocked({ host: '' }))
    assert.equal(execution.denial(), 'Network access was blocked by policy.')
  })

  test('is told, also if it allows, but not a second time if we were asked', async () => {
    const { run, answer, decided } = networkConversation()
    const execution = run()
    execution.network.onDecision!(blocked({ decision: 'allow', reason: 'allow' }))
    assert.equal(execution.denial(), undefined)
    const asked = decide(execution)
    await answer({ kind: 'denied' })
    await asked
    execution.network.onDecision!(blocked({ source: 'decider', reason: 'not_approved' }))
    assert.deepEqual(
      decided().map(({ allowed }) => allowed),
      [true, false],
    )
  })

  test('is told if our answer did not get there', () => {
    const { run, decided } = networkConversation()
    const execution = run()
    execution.network.onDecision!(blocked({ source: 'decider', reason: 'not_allowed' }))
    assert.equal(decided().length, 1)
    assert.match(execution.denial() ?? '', /no rule allows this host/)
  })

  test('gives way to what somebody said, and never the reverse', async () => {
    const { run, answer } = networkConversation()
    const execution = run()
    const told: string[] = []
    const stop = execution.onDenied(({ kind }) => told.push(kind))
    execution.network.onDecision!(blocked({}))
    const asked = decide(execution)
    await answer({ kind: 'denied', rejection: 'not today' })
    await asked
    execution.network.onDecision!(blocked({ host: 'b.test' }))
    assert.match(execution.denial() ?? '', /not today/)
    const stopping = decide(execution)
    await answer({ kind: 'abort' })
    await stopping
    assert.deepEqual(told, ['blocked', 'reviewed', 'stopped'])
    stop()
  })

  test('shows a hostile host for what it is', () => {
    const { run, decided } = networkConversation()
    const execution = run()
    execution.network.onDecision!(blocked({ host: `a\u001b[2J\u202e${'x'.repeat(100_000)}` }))
    assert.match(execution.denial() ?? '', /"a<U\+001B>\[2J<U\+202E>x+" was blocked/)
    assert.ok((decided()[0]?.host.length ?? 0) < 300)
  })
})
