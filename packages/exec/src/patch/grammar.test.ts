import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { applyPatchDescription, applyPatchFunction, patchGrammar } from './grammar.ts'
import { parsePatch } from './parse-patch.ts'

const RULES = [
  'end: "*** End Patch" LF?',
  '',
  'section: added | deleted | updated',
  'added: "*** Add File: " path LF new_line+',
  'deleted: "*** Delete File: " path LF',
  'updated: "*** Update File: " path LF moved? hunks?',
  '',
  'moved: "*** Move to: " path LF',
  'hunks: (place | line)+ last_line?',
  'place: ("@@" | "@@ " /(.+)/) LF',
  'line: (" " | "-" | "+") /(.*)/ LF',
  'last_line: "*** End of File" LF',
  '',
  'new_line: "+" /(.*)/ LF',
  'path: /(.+)/',
  '',
  '%import common.LF',
  '',
]

describe('the grammar of patches', () => {
  test('says nothing of environments where there is none to choose', () => {
    for (const ids of [[], ['local'], ['local', 'two\nlines']]) {
      assert.deepEqual(patchGrammar(ids).split('\n'), [
        'start: begin section+ end',
        'begin: "*** Begin Patch" LF',
        ...RULES,
      ])
      assert.doesNotMatch(applyPatchDescription(ids) + applyPatchFunction(ids).description, /nvironment/)
    }
  })

  test('lets a model name one of several environments, and tells it so', () => {
    const ids = ['local', 'remote']
    assert.deepEqual(patchGrammar(ids).split('\n'), [
      'start: begin section+ end',
      'begin: "*** Begin Patch" LF environment?',
      'environment: "*** Environment ID: " ("local" | "remote") LF',
      ...RULES,
    ])
    const told = /"\*\*\* Environment ID: <id>" right after "\*\*\* Begin Patch" .* one of `local`, `remote`;/
    assert.match(applyPatchDescription(ids), told)
    assert.match(applyPatchFunction(ids).description, told)
  })

  test('takes the name of an environment for a text, whatever it is', () => {
    const alternatives = (...ids: string[]) => /\((.*)\) LF$/m.exec(patchGrammar(['x', ...ids]))?.[1]
    assert.equal(alternatives('a"b'), '"x" | "a\\"b"')
    assert.equal(alternatives('a\\'), '"x" | "a\\\\"')
    assert.equal(alternatives('") LF | "'), '"x" | "\\") LF | \\""')
    // No patch could hold them.
    assert.equal(alternatives('y', '', ' a', 'a\t', 'a\nb', 'a\rb', 'a\u2028b', '\ud800'), '"x" | "y"')
  })

  test('has only names that are read from a patch as they are', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'a"\\ \n\r\u2028') }))
    fc.assert(
      fc.property(text, (id) => {
        const grammar = patchGrammar(['x', id])
        assert.ok([19, 20].includes(grammar.split(/[\n\r\u2028\u2029]/).length - 1), grammar)
        const [, written] = /^environment: .* \("x" \| (".*")\) LF$/m.exec(grammar) ?? []
        if (written === undefined) return
        assert.equal(JSON.parse(written), id)
        const patch = `*** Begin Patch\n*** Environment ID: ${id}\n*** Delete File: a\n*** End Patch`
        assert.equal(parsePatch(patch).environmentId, id)
      }),
      { numRuns: 1000 },
    )
  })
})
