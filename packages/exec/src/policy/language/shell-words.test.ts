import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { shellWords } from './shell-words.ts'

describe('an example that is written as a string', () => {
  test('has the words that a shell would make of it', () => {
    const text = fc.array(fc.constantFrom('a', 'b', ' ', '\t', "'", '"', '\\', '-', '=', 'é'), { maxLength: 14 })
    fc.assert(
      fc.property(text, (characters) => {
        const example = characters.join('')
        const split = shellWords(example)
        const { status, stdout } = spawnSync('sh', ['-c', `for word in ${example}\ndo printf '%s\\0' "$word"; done`], {
          encoding: 'utf8',
        })
        // A shell takes a backslash before the end of the line for its continuation, and an open quote for an error.
        if ('refused' in split) return
        assert.equal(status, 0)
        assert.deepEqual(split.words, stdout.split('\0').slice(0, -1))
      }),
      { numRuns: 200 },
    )
  })

  test('is one command', () => {
    for (const text of ['a; b', 'a | b', 'a && b', 'a > b', '(a)', 'a\nb', "a 'b", 'a "b', 'a \\'])
      assert.ok('refused' in shellWords(text), text)
    assert.deepEqual(shellWords(`a ';|' ">" \\; ''`), { words: ['a', ';|', '>', ';', ''] })
  })
})
