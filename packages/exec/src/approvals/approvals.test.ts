import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { EventHub } from '../events/event-hub.ts'
import type { ExecEvent } from '../events/exec-event.ts'
import { Approvals } from './approvals.ts'
import type { Approver } from './approver.ts'
import { callbackApprover } from './callback-approver.ts'
import { sampleRequest } from './fixtures/sample-request.ts'
import { Pauses } from './pauses.ts'
import type { ReviewDecision } from './review-decision.ts'
import { scriptedApprover } from './scripted-approver.ts'

const { id: _, askedAt: __, ...QUESTION } = sampleRequest()
const NEVER = new AbortController().signal
const YES = { kind: 'approved' } as const
const FOR_SESSION = { kind: 'approved_for_session' } as const

function conversation(...approvers: Approver[]) {
  const happened: ExecEvent[] = []
  const events = new EventHub((error) => assert.fail(String(error)))
  events.on((event) => happened.push(event))
  const pauses = new Pauses()
  let ids = 0
  const newId = () => `question-${++ids}`
  const approvals = new Approvals({ approvers, events, pauses, newId, now: () => new Date(7) })
  const ask = (keys: readonly unknown[] = [], signal = NEVER) => approvals.ask(QUESTION, { tool: 'exec', keys, signal })
  const story = () =>
    happened.map((event) => {
      if (event.type === 'approval_asked') return `asked ${event.request.id}`
      if (event.type === 'approval_decided') return `${event.requestId ?? 'unasked'}: ${event.decision.kind}`
      return event.type
    })
  return { ask, story, happened, pauses }
}

function deferred() {
  let resolve: (decision: ReviewDecision) => void = () => {}
  const promise = new Promise<ReviewDecision>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
const waiting = callbackApprover(() => new Promise(() => {}))

describe('a question', () => {
  test('goes to one after the other until somebody has an answer', async () => {
    const hook = callbackApprover(() => undefined, { source: 'config' })
    const program = callbackApprover(async () => ({ kind: 'denied', rejection: 'no' }), { source: 'automatic' })
    const person = callbackApprover(() => assert.fail('asked'))
    const { ask, happened } = conversation(hook, program, person)
    const decision = { kind: 'denied', rejection: 'no' } as const
    assert.deepEqual(await ask(), { decision, source: 'automatic', cached: false })
    const about = { callId: 'call-1', turnId: 'turn-1', tool: 'exec' }
    const request = { ...QUESTION, id: 'question-1', askedAt: new Date(7) }
    assert.deepEqual(happened, [
      { type: 'approval_asked', ...about, request },
      { type: 'approval_decided', ...about, requestId: 'question-1', decision, source: 'automatic' },
    ])
  })

  test('that nobody answers is answered with no', async () => {
    for (const approvers of [[], [callbackApprover(() => undefined)]]) {
      const { ask, story } = conversation(...approvers)
      const { decision, source } = await ask()
      assert.equal(source, 'config')
      assert.match(JSON.stringify(decision), /"denied".*nobody could be asked/)
      assert.deepEqual(story(), ['asked question-1', 'question-1: denied'])
    }
  })

  test('that makes somebody fail, at once or later, is answered with no, and with what happened', async () => {
    const broken = new Error('the bell is broken')
    const throwing: Approver = {
      source: 'automatic',
      ask: () => {
        throw broken
      },
    }
    for (const approver of [throwing, { ...throwing, ask: () => Promise.reject(broken) }]) {
      const { ask, story } = conversation(
        approver,
        callbackApprover(() => YES),
      )
      const { decision, source } = await ask()
      assert.deepEqual([decision.kind, source], ['denied', 'automatic'])
      assert.match(JSON.stringify(decision), /the bell is broken/)
      assert.deepEqual(story(), ['asked question-1', 'question-1: denied'])
    }
  })

  test('that is answered with anything but a clear answer is answered with no', async () => {
    const unclear = [
      ...[null, true, 'approved', {}, { kind: 'yes' }, { kind: 'constructor' }, { kind: 'denied', rejection: 1 }],
      ...[[], [1], 'ls', undefined].map((prefix) => {
        return { kind: 'approved_execpolicy_amendment', amendment: { prefix }, scope: 'user' }
      }),
      { kind: 'approved_execpolicy_amendment', amendment: { prefix: ['ls'] }, scope: 'everybody' },
      { kind: 'network_policy_amendment', host: 'a.test', action: 'maybe', scope: 'user' },
    ]
    for (const answer of unclear) {
      const { ask } = conversation(callbackApprover(() => answer as ReviewDecision))
      assert.equal((await ask()).decision.kind, 'denied', JSON.stringify(answer))
    }
  })

  test('is dropped with its turn, whatever is said later', async () => {
    const turn = new AbortController()
    const { promise, resolve } = deferred()
    const { ask, story, pauses } = conversation(callbackApprover(() => promise))
    const asked = ask(['key'], turn.signal)
    turn.abort()
    resolve(FOR_SESSION)
    assert.deepEqual((await asked).decision, { kind: 'abort' })
    assert.equal(pauses.isPaused, false)
    assert.equal((await ask(['key'], turn.signal)).decision.kind, 'abort')
    assert.deepEqual(story(), ['asked question-1', 'question-1: abort', 'unasked: abort'])
  })

  test('allows nothing if its answer comes together with the end of the turn', async () => {
    const turn = new AbortController()
    const late = callbackApprover(() => {
      queueMicrotask(() => turn.abort())
      return FOR_SESSION
    })
    const { ask } = conversation(late)
    assert.equal((await ask(['key'], turn.signal)).decision.kind, 'abort')
    const { cached } = await ask(['key'])
    assert.equal(cached, false)
  })

  test('stops the clocks of those who wait for processes, and lets them go on', async () => {
    const { promise, resolve } = deferred()
    const { ask, pauses } = conversation(callbackApprover(() => promise))
    const [first, second] = [ask(), ask()]
    assert.equal(pauses.isPaused, true)
    resolve(YES)
    await Promise.all([first, second])
    assert.equal(pauses.isPaused, false)
  })

  test('is one too many when dozens are open, and is welcome again when they are not', async () => {
    const turn = new AbortController()
    const { ask } = conversation(waiting)
    const open = Array.from({ length: 64 }, () => ask([], turn.signal))
    assert.match(JSON.stringify((await ask()).decision), /"denied".*64 questions are waiting/)
    turn.abort()
    await Promise.all(open)
    const again = new AbortController()
    const welcome = ask([], again.signal)
    again.abort()
    assert.equal((await welcome).decision.kind, 'abort')
  })
})

describe('an answer for the conversation', () => {
  test('spares the next question, also about a part of it', async () => {
    const person = scriptedApprover([FOR_SESSION])
    const { ask, story } = conversation(person)
    await ask(['a', 'b'])
    assert.deepEqual(await ask(['b']), { decision: FOR_SESSION, source: 'user', cached: true })
    assert.equal(person.asked.length, 1)
    assert.deepEqual(story(), ['asked question-1', 'question-1: approved_for_session', 'unasked: approved_for_session'])
  })

  test('is not what somebody said who said less, or what a program said', async () => {
    const amendment = { kind: 'approved_execpolicy_amendment', amendment: { prefix: ['ls'] }, scope: 'user' } as const
    for (const decision of [YES, amendment, { kind: 'timed_out' } as const]) {
      const { ask } = conversation(callbackApprover(() => decision))
      await ask(['key'])
      assert.equal((await ask(['key'])).cached, false, decision.kind)
    }
    const { ask } = conversation(callbackApprover(() => FOR_SESSION, { source: 'automatic' }))
    await ask(['key'])
    assert.equal((await ask(['key'])).cached, false)
  })
})

test('every question that is asked is decided once, whatever happens to it', async () => {
  const behaviour = fc.constantFrom('answers', 'passes', 'throws', 'rejects', 'waits', 'says nonsense')
  const approver = (how: string): Approver =>
    callbackApprover(async () => {
      if (how === 'answers') return FOR_SESSION
      if (how === 'passes') return undefined
      if (how === 'says nonsense') return { kind: 'perhaps' } as unknown as ReviewDecision
      if (how === 'waits') return new Promise(() => {})
      throw new Error(how)
    })
  const calls = fc.array(fc.record({ key: fc.nat(3), aborted: fc.boolean() }), { maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.array(behaviour, { maxLength: 3 }), calls, async (behaviours, wanted) => {
      const { ask, happened } = conversation(...behaviours.map(approver))
      const turn = new AbortController()
      const asked = wanted.map(({ key, aborted }) => ask([key], aborted ? AbortSignal.abort() : turn.signal))
      await new Promise((resolve) => setImmediate(resolve))
      turn.abort()
      await Promise.all(asked)
      const ids = happened.flatMap((event) => (event.type === 'approval_asked' ? [event.request.id] : []))
      const decided = happened.flatMap((event) => (event.type === 'approval_decided' ? [event.requestId] : []))
      assert.equal(decided.length, wanted.length)
      assert.deepEqual(decided.filter((id) => id !== undefined).sort(), ids.sort())
    }),
    { numRuns: 50 },
  )
})
