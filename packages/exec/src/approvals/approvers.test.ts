import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sampleRequest } from './fixtures/sample-request.ts'
import { QueueApprover } from './queue-approver.ts'
import type { ReviewDecision } from './review-decision.ts'
import { scriptedApprover } from './scripted-approver.ts'

const NEVER = new AbortController().signal
const YES = { kind: 'approved' } as const
const question = (id: string) => sampleRequest({ id })

describe('a script', () => {
  test('answers in its order, looks at the question where it wants to, and complains when it is over', async () => {
    const script = scriptedApprover([YES, ({ id }) => ({ kind: 'denied', rejection: id }), () => undefined])
    assert.deepEqual(await script.ask(question('a'), NEVER), YES)
    assert.deepEqual(await script.ask(question('b'), NEVER), { kind: 'denied', rejection: 'b' })
    assert.equal(await script.ask(question('c'), NEVER), undefined)
    await assert.rejects(script.ask(question('d'), NEVER), /has 3 answers, and this is question 4/)
    assert.deepEqual(
      script.asked.map(({ id }) => id),
      ['a', 'b', 'c', 'd'],
    )
  })
})

describe('a queue', () => {
  const open = () => new QueueApprover((error) => assert.fail(String(error)))
  const ids = (queue: QueueApprover) => queue.list().map(({ id }) => id)

  test('keeps questions until somebody answers them, in any order', async () => {
    const queue = open()
    const seen: string[][] = []
    const stop = queue.onChange(() => seen.push(ids(queue)))
    const [a, b] = [queue.ask(question('a'), NEVER), queue.ask(question('b'), NEVER)]
    queue.decide('b', { kind: 'denied', rejection: 'not now' })
    assert.deepEqual(await b, { kind: 'denied', rejection: 'not now' })
    queue.decide('a', YES)
    assert.deepEqual(await a, YES)
    stop()
    queue.ask(question('c'), NEVER).catch(() => {})
    assert.deepEqual(seen, [['a'], ['a', 'b'], ['a'], []])
  })

  test('lets go of a question that nobody waits for any more', async () => {
    const queue = open()
    const turn = new AbortController()
    const asked = queue.ask(question('a'), turn.signal)
    turn.abort(new Error('over'))
    await assert.rejects(asked, /over/)
    assert.deepEqual(ids(queue), [])
    assert.throws(() => queue.decide('a', YES), /"a" is not wanted any more/)
    await assert.rejects(queue.ask(question('b'), turn.signal), /over/)
    assert.deepEqual(ids(queue), [])
  })

  test('says what is wrong with an answer, and the question goes on waiting', async () => {
    const queue = open()
    const asked = queue.ask(question('a'), NEVER)
    assert.throws(() => queue.decide('z', YES), /"z" is not known here/)
    assert.throws(() => queue.decide('a', { kind: 'perhaps' } as unknown as ReviewDecision), /no known kind/)
    assert.deepEqual(ids(queue), ['a'])
    queue.decide('a', YES)
    assert.throws(() => queue.decide('a', YES), /"a" has been decided already/)
    await asked
  })

  test('takes no question twice at the same time, and not endlessly many', async () => {
    const queue = open()
    const first = queue.ask(question('a'), NEVER)
    await assert.rejects(queue.ask(question('a'), NEVER), /"a" is waiting already/)
    const more = Array.from({ length: 999 }, (_, index) => queue.ask(question(`more-${index}`), NEVER))
    await assert.rejects(queue.ask(question('last'), NEVER), /1000 questions are waiting/)
    for (const { id } of queue.list()) queue.decide(id, YES)
    assert.deepEqual(new Set((await Promise.all([first, ...more])).map(({ kind }) => kind)), new Set(['approved']))
  })

  test('is not held up by somebody who watches and fails', async () => {
    const failures: unknown[] = []
    const queue = new QueueApprover((error) => failures.push(error))
    queue.onChange(() => {
      throw new Error('broken screen')
    })
    const asked = queue.ask(question('a'), NEVER)
    queue.decide('a', YES)
    assert.deepEqual(await asked, YES)
    assert.equal(failures.length, 2)
  })
})
