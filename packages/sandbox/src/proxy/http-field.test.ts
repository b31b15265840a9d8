import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseField } from './http-field.ts'

describe('a header line', () => {
  test('has a name and a value, without the blanks around it', () => {
    assert.deepEqual(parseField('X-Some:value'), ['x-some', 'value'])
    assert.deepEqual(parseField('a: \t b c \t '), ['a', 'b c'])
    assert.deepEqual(parseField('a:'), ['a', ''])
    assert.deepEqual(parseField('a:   '), ['a', ''])
    assert.deepEqual(parseField('a: caf\xc3\xa0'), ['a', 'caf\xc3\xa0'])
    assert.deepEqual(parseField('a: b:c'), ['a', 'b:c'])
  })

  test('is none with anything else in it', () => {
    for (const line of [
      '',
      'a',
      ':',
      ': b',
      ' a: b',
      '\ta: b',
      'a : b',
      'a b: c',
      'a: b\0',
      'a: b\r',
      'a: b\nc',
      'a\x7f: b',
    ]) {
      assert.equal(parseField(line), undefined, JSON.stringify(line))
    }
  })
})
