import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import { TomlLines } from './toml-lines.ts'

const document = (...lines: string[]) => new TomlLines(lines.join('\n'))

describe('the lines of a TOML document', () => {
  test('are those of keys and tables', () => {
    const lines = document(
      '# a comment',
      'default = "x" # another',
      '',
      '[[environments]]',
      'id = "a"',
      '  url="ws://a"',
      '[environments.env]',
      'KEY = "v"',
      '[[ environments ]] # second',
      'id = "b"',
      'env.KEY = "v"',
    )
    assert.equal(lines.lineOf(['default']), 2)
    assert.equal(lines.lineOf(['environments', 0]), 4)
    assert.equal(lines.lineOf(['environments', 0, 'id']), 5)
    assert.equal(lines.lineOf(['environments', 0, 'url']), 6)
    assert.equal(lines.lineOf(['environments', 0, 'env']), 7)
    assert.equal(lines.lineOf(['environments', 0, 'env', 'KEY']), 8)
    assert.equal(lines.lineOf(['environments', 1]), 9)
    assert.equal(lines.lineOf(['environments', 1, 'id']), 10)
    assert.equal(lines.lineOf(['environments', 1, 'env']), 11)
    assert.equal(lines.lineOf(['environments', 1, 'env', 'KEY']), 11)
  })

  test('are not confused by what stands in strings and comments', () => {
    const lines = document(
      'a = "[[environments]] \\" # no"',
      "b = '[[environments]] \\'",
      'c = """',
      '[[environments]]',
      'id = 1 \\""" x""""',
      "d = '''",
      "id = 'x'",
      "[[environments]]'''''",
      'e = [ # [[environments]]',
      '  "]", \']\', # ]',
      '  [1, {f = "}"}],',
      ']',
      '# [[environments]]',
      '"id" = 1',
      '[[environments]]',
      '"i\\u0064" = 2',
      "'dotted.name' = 3",
    )
    assert.equal(lines.lineOf(['e']), 9)
    assert.equal(lines.lineOf(['id']), 14)
    assert.equal(lines.lineOf(['environments', 0]), 15)
    assert.equal(lines.lineOf(['environments', 0, 'id']), 16)
    assert.equal(lines.lineOf(['environments', 0, 'dotted.name']), 17)
  })

  test('are those of the nearest thing around where there is none of its own', () => {
    const lines = document('', 'environments = [', '  { id = "a" },', '  { id = "b" },', ']')
    assert.equal(lines.lineOf(['environments', 1, 'id']), 2)
    assert.equal(lines.lineOf(['nowhere']), 1)
  })

  test('count Windows line ends once, and pass over a byte order mark', () => {
    const lines = new TomlLines('\uFEFFa = 1\r\n\r\nb = """x\r\ny"""\r\n[[c]]\r\nd = 1\r\n')
    assert.deepEqual(
      [lines.lineOf(['a']), lines.lineOf(['b']), lines.lineOf(['c', 0]), lines.lineOf(['c', 0, 'd'])],
      [1, 3, 5, 6],
    )
  })

  test('are found for any keys and values', () => {
    const member = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.array(fc.string()))
    const table = fc.dictionary(fc.string({ unit: 'grapheme', minLength: 1 }), member, { maxKeys: 5 })
    fc.assert(
      fc.property(fc.array(table, { maxLength: 4 }), (environments) => {
        const text = stringify({ environments })
        const lines = new TomlLines(text)
        const rows = text.split('\n')
        for (const [index, members] of environments.entries()) {
          assert.equal(rows[lines.lineOf(['environments', index]) - 1], '[[environments]]')
          for (const [key, value] of Object.entries(members)) {
            const row = rows[lines.lineOf(['environments', index, key]) - 1]!
            assert.deepEqual(parse(row), parse(stringify({ [key]: value })))
          }
        }
      }),
    )
  })

  test('are found in a document of a megabyte', () => {
    const long = '\\"x'.repeat(350_000)
    const lines = document(`a = """${long}"""`, `b = "${long}"`, `c = '''${'"x'.repeat(500_000)}'''`, 'd = 1')
    assert.equal(lines.lineOf(['d']), 4)
    const deep = Array(250_000).fill('a').join('.')
    assert.equal(document(`${deep} = 1`, `[[b.${deep}]]`, 'c = 1').lineOf(['b']), 2)
  })
})
