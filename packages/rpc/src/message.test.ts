import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { encodeError, encodeNotification, encodeResult, MalformedMessageError, parseMessage } from './message.ts'

const limits = { maxDepth: 128, maxValues: 1000 }
const parse = (text: string) => parseMessage(text, limits)
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

describe('classifying a message', () => {
  test('requests, notifications and responses', () => {
    assert.deepEqual(parse('{"id":1,"method":"a","params":{"x":1}}'), {
      kind: 'request',
      id: '1',
      method: 'a',
      params: { x: 1 },
    })
    assert.deepEqual(parse('{"method":"a"}'), { kind: 'notification', method: 'a', params: undefined })
    assert.deepEqual(parse('{"id":"x","result":null}'), { kind: 'response', id: '"x"', result: null })
    assert.deepEqual(parse('{"id":1,"error":{"code":-1,"message":"m"}}'), {
      kind: 'response',
      id: '1',
      error: { code: -1, message: 'm' },
    })
  })

  test('jsonrpc and unknown members are ignored', () => {
    assert.equal(parse('{"jsonrpc":[],"id":1,"method":"a","zzz":{}}').kind, 'request')
  })

  test('trace is an object of strings, or nothing', () => {
    for (const trace of ['null', '{}', '{"traceparent":"x","tracestate":null}']) {
      assert.equal(parse(`{"id":1,"method":"a","trace":${trace}}`).kind, 'request')
    }
    for (const trace of ['"x"', '[]', '{"traceparent":5}']) {
      assert.throws(() => parse(`{"id":1,"method":"a","trace":${trace}}`), MalformedMessageError)
    }
  })

  test('ids come back to the letter', () => {
    for (const id of [
      '1',
      '-7',
      '0',
      '"abc"',
      '""',
      '9007199254740993',
      '9223372036854775807',
      '-9223372036854775808',
    ]) {
      const message = parse(`{"method":"a","params":{"id":5},"id": ${id} }`)
      assert.ok(message.kind === 'request')
      assert.equal(message.id, id)
    }
  })

  test('other ids are malformed', () => {
    const bad = ['1.5', '1.0', '3e2', 'true', 'null', '{}', '[1]', '9223372036854775808', '-9223372036854775809']
    for (const id of bad) assert.throws(() => parse(`{"id":${id},"method":"a"}`), MalformedMessageError, id)
  })

  test('what is no message is malformed', () => {
    const bad = [
      '',
      ' ',
      '{bad',
      '42',
      '[]',
      'null',
      '"x"',
      '{}',
      '{"id":1}',
      '{"id":5,"method":7}',
      '{"method":null}',
      '{"id":1} x',
    ]
    for (const text of bad) assert.throws(() => parse(text), MalformedMessageError, text)
  })
})

describe('JSON within limits', () => {
  test('equal keys are malformed at any depth, however they are spelled', () => {
    assert.throws(() => parse('{"id":1,"id":1,"method":"a"}'), /duplicate object key `id`/)
    assert.throws(() => parse('{"method":"a","params":{"x":[{"a":1,"\\u0061":2}]}}'), /duplicate object key `a`/)
    assert.throws(
      () =>
        parse(
          `{"method":"a","params":{${'k'
            .repeat(40)
            .split('')
            .map((_, i) => `"k${i}":1`)
            .join()},"k3":1}}`,
        ),
      /`k3`/,
    )
    assert.equal(parse('{"method":"a","params":[{"x":1},{"x":{"x":"x"}}]}').kind, 'notification')
  })

  test('nesting stops at the limit', () => {
    assert.equal(parse(`{"method":"a","params":${nested(127)}}`).kind, 'notification')
    assert.throws(() => parse(`{"method":"a","params":${nested(128)}}`), /deeper than 128/)
    assert.throws(() => parse('['.repeat(1e6)), /deeper than 128/)
  })

  test('values are counted before they are built', () => {
    const list = (count: number) => `{"method":"a","params":[${Array(count).fill('1').join()}]}`
    assert.equal(parse(list(997)).kind, 'notification')
    assert.throws(() => parse(list(998)), /more than 1000 JSON values/)
    assert.throws(() => parse(`[${'{},'.repeat(1e6)}`), /more than 1000/)
  })

  test('half a surrogate pair is malformed', () => {
    assert.throws(() => parse('{"id":"\\ud800","method":"a"}'), /surrogate/)
    assert.throws(() => parse('{"id":1,"method":"a","params":{"\\udc00":1}}'), /surrogate/)
    assert.equal(parse('{"id":"\\ud83d\\ude00 \\\\ud800","method":"a"}').kind, 'request')
  })

  test('whatever JSON.stringify writes is read back the same', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat(), (params, id) => {
        // JSON.stringify writes lone surrogates as escapes, which are malformed here.
        fc.pre(!/\\ud[89a-f]/.test(JSON.stringify(params)))
        const message = parse(JSON.stringify({ params, id, method: 'm' }))
        assert.deepEqual(message, {
          kind: 'request',
          id: String(id),
          method: 'm',
          params: JSON.parse(JSON.stringify(params)),
        })
      }),
    )
  })

  test('a short text is read as a long one is', () => {
    const outcome = (text: string) => {
      try {
        return parse(text)
      } catch (error) {
        // Where exactly, Node says in its own way.
        return (error as Error).message.replace(/^not JSON: .*/s, 'not JSON')
      }
    }
    const id = fc.oneof(
      fc.integer().map(String),
      fc.constantFrom('-0', '1.0', '1e2', '9007199254740993', 'true', '"\\ud800"'),
    )
    const key = fc.constantFrom('"a"', '"\\u0061"', '"id"', '"1"', '"__proto__"', '"toJSON"', '"é"', '"\\ud800"')
    const value = fc.constantFrom(
      '1',
      '01',
      '1.50',
      '{"a":1,"a":1}',
      '[]',
      '[ ]',
      'null',
      '"\\/"',
      '"\\u00e9"',
      '{}',
      '}',
      ',',
    )
    const members = fc.array(fc.tuple(key, value), { maxLength: 5 })
    fc.assert(
      fc.property(id, members, (id, members) => {
        const rest = members.map(([key, value]) => `,${key}:${value}`).join('')
        const text = `{"id":${id},"method":"m","params":{"x":0${rest}}${rest}}`
        const long = `${text}${' '.repeat(300)}`
        assert.deepEqual(outcome(text), outcome(long))
      }),
      { numRuns: 5000 },
    )
  })

  test('garbage never gets past the parser', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[]",:\\ 1ae'), maxLength: 30 }), (text) => {
        try {
          parse(text)
        } catch (error) {
          assert.ok(error instanceof MalformedMessageError)
          return
        }
        assert.equal(typeof JSON.parse(text), 'object')
      }),
      { numRuns: 2000 },
    )
  })
})

test('what is encoded is JSON', () => {
  assert.deepEqual(JSON.parse(encodeResult('"a"', { x: 1 })), { id: 'a', result: { x: 1 } })
  assert.deepEqual(JSON.parse(encodeError('7', -32600, 'say "no"')), {
    id: 7,
    error: { code: -32600, message: 'say "no"' },
  })
  assert.deepEqual(JSON.parse(encodeNotification('a/b', {})), { method: 'a/b', params: {} })
})
