import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { base64 } from './base64.ts'
import {
  array,
  boolean,
  DecodeError,
  object,
  oneOf,
  optional,
  string,
  stringRecord,
  unsigned,
  withDefault,
} from './decode.ts'
import { isMethod, methods } from './methods.ts'

function message(decode: () => unknown): string {
  try {
    decode()
  } catch (error) {
    assert.ok(error instanceof DecodeError, String(error))
    return error.message
  }
  assert.fail('it decoded')
}

describe('schemas', () => {
  const person = object({
    name: string,
    tags: withDefault(array(string), []),
    age: optional(unsigned(150)),
    kind: optional(oneOf('cat', 'dog')),
    friend: optional(object({ name: string })),
  })

  test('return the members they know and ignore the rest', () => {
    assert.deepEqual(person({ name: 'a', age: null, extra: 1 }), {
      name: 'a',
      tags: [],
      age: undefined,
      kind: undefined,
      friend: undefined,
    })
  })

  test('name the member that is wrong', () => {
    assert.equal(
      message(() => person({})),
      'missing field `name`',
    )
    assert.equal(
      message(() => person(null)),
      'expected an object, got null',
    )
    assert.equal(
      message(() => person([])),
      'expected an object, got an array',
    )
    assert.equal(
      message(() => person({ name: 5 })),
      'name: expected a string, got a number',
    )
    assert.equal(
      message(() => person({ name: 'a', tags: null })),
      'tags: expected an array, got null',
    )
    assert.equal(
      message(() => person({ name: 'a', tags: ['x', {}] })),
      'tags[1]: expected a string, got an object',
    )
    assert.equal(
      message(() => person({ name: 'a', age: 1.5 })),
      'age: expected a whole number from 0 to 150, got 1.5',
    )
    assert.equal(
      message(() => person({ name: 'a', kind: 'cow' })),
      'kind: unknown variant `cow`, expected one of `cat`, `dog`',
    )
    assert.equal(
      message(() => person({ name: 'a', friend: {} })),
      'friend: missing field `name`',
    )
  })

  test('a hostile value does not make a large error', () => {
    assert.ok(message(() => oneOf('a')('x'.repeat(1e6))).length < 200)
    assert.ok(message(() => stringRecord({ ['k'.repeat(1e6)]: 1 })).length < 200)
  })

  test('a dictionary may have any key', () => {
    const record = stringRecord(JSON.parse('{"__proto__":"x","constructor":"y"}'))
    assert.deepEqual(Object.entries(record), [
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
  })

  test('booleans are booleans', () => {
    assert.equal(boolean(false), false)
    assert.equal(
      message(() => boolean(0)),
      'expected a boolean, got a number',
    )
  })
})

describe('base64', () => {
  test('decodes standard base64 with padding', () => {
    assert.deepEqual(Array.from(base64('')), [])
    assert.deepEqual(Array.from(base64('/+8=')), [255, 239])
  })

  test('refuses everything else', () => {
    for (const text of ['YW', 'YWJj\n', 'YWJ-', 'YWJ_', 'Y===', '=AAA', 'YW=j'])
      assert.throws(() => base64(text), DecodeError, text)
  })
})

describe('the method table', () => {
  test('knows its methods and not what every object inherits', () => {
    assert.ok(isMethod('process/start'))
    assert.ok(!isMethod('toString'))
    assert.ok(!isMethod('__proto__'))
  })

  test('methods without params take none, null or an object', () => {
    for (const params of [undefined, null, {}]) assert.equal(methods['environment/status'].params(params), undefined)
    assert.throws(() => methods['environment/status'].params([]), DecodeError)
  })

  test('process/signal takes interrupt and signal names', () => {
    const decode = (signal: string) => methods['process/signal'].params({ processId: 'p', signal })
    for (const signal of ['interrupt', 'SIGTERM', 'SIGRTMIN+3']) assert.equal(decode(signal).signal, signal)
    for (const signal of ['kill', 'TERM', 'SIG', 'sigterm', 'SIG;rm']) assert.throws(() => decode(signal), DecodeError)
  })
})
