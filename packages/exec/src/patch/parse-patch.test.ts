import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parsePatch } from './parse-patch.ts'
import { PatchError } from './patch-error.ts'

const wrap = (lines: readonly string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')

describe('a patch', () => {
  test('is read into sections, hunks and lines, all with their line numbers', () => {
    const text = wrap([
      ...['*** Environment ID: far', '*** Add File: a', '+x', '*** Delete File: b', '*** Update File: c'],
      ...['*** Move to: d', '@@ first', '@@ second', ' keep', '-old', '+new', '@@', '+end', '*** End of File'],
    ])
    assert.deepEqual(parsePatch(text), {
      environmentId: 'far',
      sections: [
        { kind: 'add', path: 'a', line: 3, content: ['x'] },
        { kind: 'delete', path: 'b', line: 5 },
        {
          kind: 'update',
          path: 'c',
          line: 6,
          moveTo: 'd',
          hunks: [
            {
              contexts: ['first', 'second'],
              lines: [
                { kind: 'keep', text: 'keep' },
                { kind: 'remove', text: 'old' },
                { kind: 'add', text: 'new' },
              ],
              endOfFile: false,
              line: 8,
            },
            { contexts: [], lines: [{ kind: 'add', text: 'end' }], endOfFile: true, line: 13 },
          ],
        },
      ],
    })
  })

  test('without sections is read, and refused by whoever applies it', () => {
    assert.deepEqual(parsePatch(wrap([])), { sections: [] })
  })

  test('of any text is read or refused, and never fails otherwise', () => {
    const line = fc.oneof(
      fc.constantFrom('*** Add File: a', '*** Update File: b', '*** Move to: c', '*** Delete File: d', '*** End Patch'),
      fc.constantFrom('@@', '@@ x', '+', '-', ' ', '', '*** End of File', '*** Environment ID: e', '<<EOF', 'EOF'),
      fc.string({ unit: 'binary', maxLength: 8 }),
    )
    const refused = (text: string) => {
      try {
        parsePatch(text)
      } catch (error) {
        assert.ok(PatchError.is(error, 'INVALID'), String(error))
        assert.match(error.message, /^invalid (patch:|hunk at line \d+,) /)
      }
    }
    fc.assert(fc.property(fc.array(line, { maxLength: 20 }), (lines) => refused(wrap(lines))))
    fc.assert(fc.property(fc.string({ unit: 'binary' }), refused))
  })

  test('of several megabytes is read in one go', () => {
    const many = 400_000
    const hunks = Array.from({ length: many }, () => ['@@', '-a', '+b']).flat()
    const [section] = parsePatch(wrap(['*** Update File: f', ...hunks])).sections
    assert.ok(section?.kind === 'update' && section.hunks.length === many)
    assert.ok(parsePatch(wrap(['*** Update File: f', '@@ x', '+y', ...Array<string>(2_000_000).fill('')])))
    assert.throws(() => parsePatch(`${'\n'.repeat(4_000_000)}x`), /The first line of the patch/)
    assert.throws(() => parsePatch(wrap([`*** Add File: ${' '.repeat(4_000_000)}`])), /the path is empty/)
  })
})
