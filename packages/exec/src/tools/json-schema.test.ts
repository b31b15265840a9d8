import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type JsonSchema, mismatch } from './json-schema.ts'

const schema: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    size: { type: 'integer' },
    mode: { type: 'string', enum: ['a', 'b'] },
    tags: { type: 'array', items: { type: 'string' } },
    when: {
      anyOf: [
        { type: 'string', enum: ['now'] },
        { type: 'object', properties: { ms: { type: 'number' } }, required: ['ms'], additionalProperties: false },
      ],
    },
    isOn: { type: 'boolean' },
  },
  required: ['name'],
  additionalProperties: false,
}

test('what fits fits, and what was left out may be null', () => {
  for (const value of [
    { name: 'x' },
    { name: '', size: 3, mode: 'a', tags: [], isOn: false },
    { name: 'x', when: 'now', size: null },
    { name: 'x', when: { ms: 0.5 }, tags: ['a', 'b'] },
  ]) {
    assert.equal(mismatch(schema, value), undefined, JSON.stringify(value))
  }
})

test('what does not fit is told, with the way to it', () => {
  const cases: [unknown, string][] = [
    [null, 'expected an object, got null'],
    [[], 'expected an object, got a list'],
    ['x', 'expected an object, got a string'],
    [{}, 'missing field `name`'],
    [{ name: null }, 'name: expected a string, got null'],
    [{ name: 'x'.repeat(1024 * 1024 + 1) }, 'name: 1048577 characters are too many; 1048576 are allowed'],
    [{ name: 'x', size: 1.5 }, 'size: expected a whole number, got 1.5'],
    [{ name: 'x', size: Number.NaN }, 'size: expected a number, got a number'],
    [{ name: 'x', size: '1' }, 'size: expected a number, got a string'],
    [{ name: 'x', mode: 'c' }, 'mode: unknown variant `c`, expected `a`, `b`'],
    [{ name: 'x', tags: ['a', 1] }, 'tags[1]: expected a string, got a number'],
    [{ name: 'x', tags: 'a' }, 'tags: expected a list, got a string'],
    [{ name: 'x', tags: new Array(1001).fill('') }, 'tags: 1001 items are too many; 1000 are allowed'],
    [{ name: 'x', when: { ms: 'a' } }, 'when: expected `now` or an object, got an object'],
    [{ name: 'x', isOn: 'yes' }, 'isOn: expected true or false, got a string'],
    [{ name: 'x', toString: 'x' }, 'unknown field `toString`, expected name, size, mode, tags, when, isOn'],
  ]
  for (const [value, problem] of cases) assert.equal(mismatch(schema, value), problem)
})
