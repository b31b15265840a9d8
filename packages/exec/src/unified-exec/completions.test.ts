import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Completion, completionMessage } from './completions.ts'

const completion: Completion = {
  sessionId: 1234,
  callId: 'call',
  command: 'make',
  exitCode: 2,
  durationMs: 61_234,
  tail: 'error: no\n',
}

describe('a message about what has ended', () => {
  test('says how, after how long, and with what last words', () => {
    assert.equal(
      completionMessage([completion, { ...completion, exitCode: null, endedBy: 'the turn is over', tail: '' }]),
      'Session 1234 ("make") exited with code 2 after 61.2 seconds. The end of its output:\nerror: no\n\n\n' +
        'Session 1234 ("make") ended, how is not known (the turn is over) after 61.2 seconds.',
    )
    assert.equal(completionMessage([]), undefined)
  })

  test('is bounded, however many there are and whatever they say', () => {
    const hostile = { ...completion, command: '\0'.repeat(1e6), tail: '€'.repeat(600) }
    for (const count of [1, 8, 64]) {
      const message = completionMessage(Array(count).fill(hostile))!
      assert.ok(message.length < 6000 + count * 1500)
      assert.doesNotMatch(message, /\ufffd/)
    }
  })
})
