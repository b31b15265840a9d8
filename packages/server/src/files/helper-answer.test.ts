import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '@waldo/protocol'
import { readAnswer } from './helper-answer.ts'

const read = (message: unknown) => readAnswer({ message })

describe('what a helper says', () => {
  test('is a result, with or without bytes, an error, or that it needs room', () => {
    const result = { a: 1 }
    assert.deepEqual(read({ id: 1, result }), { id: 1, answer: { kind: 'result', result, member: undefined } })
    for (const bytes of ['dataBase64', 'chunk'] as const) {
      assert.deepEqual(read({ id: 2, result, bytes }).answer, { kind: 'result', result, member: bytes })
    }
    const error = { code: -32603, message: 'no' }
    assert.deepEqual(read({ id: 3, error }).answer, { kind: 'error', ...error })
    const needs = limits.messageBytes
    assert.deepEqual(read({ id: 4, needs }).answer, { kind: 'needs', bytes: needs })
  })

  const nonsense: unknown[] = [
    null,
    1,
    'text',
    [],
    {},
    { result: {} },
    { id: '1', result: {} },
    { id: 1.5, result: {} },
    { id: 1 },
    { id: 1, result: null },
    { id: 1, result: 'text' },
    { id: 1, result: [], bytes: 'chunk' },
    { id: 1, result: {}, bytes: 'x":1,"y' },
    { id: 1, result: {}, bytes: null },
    { id: 1, error: null },
    { id: 1, error: { code: -32603 } },
    { id: 1, error: { code: 'x', message: 'no' } },
    { id: 1, needs: limits.messageBytes + 1 },
    { id: 1, needs: '5' },
    { id: 1, needs: Number.NaN },
    { id: 1, needs: null, result: {} },
  ]
  for (const message of nonsense) {
    test(`is not ${JSON.stringify(message)}`, () => {
      assert.throws(() => read(message), Error)
    })
  }
})
