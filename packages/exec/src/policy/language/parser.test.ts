import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { parseCalls } from './parser.ts'
import { SourceText } from './source-text.ts'

function valuesOf(text: string): unknown {
  const { calls, refusals } = parseCalls(text)
  assert.deepEqual(refusals, [])
  return calls.map(({ name, arguments: args }) => [name, ...args.map((arg) => [arg.name ?? '', plain(arg.value)])])
}

type Value = ReturnType<typeof parseCalls>['calls'][number]['arguments'][number]['value']

function plain(value: Value): unknown {
  if (value.kind === 'list') return value.items.map(plain)
  return value.kind === 'none' ? null : value.value
}

/** `line:column: message` of each. */
function problemsOf(text: string): string[] {
  const source = new SourceText(text)
  return parseCalls(text).refusals.map(({ offset, message }) => {
    const { line, column } = source.position(offset)
    return `${line}:${column}: ${message}`
  })
}

describe('a rules file', () => {
  test('has calls with arguments by place and by name, lists, comments and trailing commas', () => {
    const text = `# first
f("a", b = ['c', ["d", "e",],], # why
  c=True,
  d=False, e=None,
)

g(); h("x") # two on a line`
    assert.deepEqual(valuesOf(text), [
      ['f', ['', 'a'], ['b', ['c', ['d', 'e']]], ['c', true], ['d', false], ['e', null]],
      ['g'],
      ['h', ['', 'x']],
    ])
  })

  test('may be empty, all comment, or without a line end', () => {
    for (const text of ['', '\n\n', '# nothing', ' \t\r\n#x\r\n', '\uFEFF']) assert.deepEqual(valuesOf(text), [])
    assert.deepEqual(valuesOf('f()'), [['f']])
  })

  test('may have been written by an editor that adds a byte order mark and carriage returns', () => {
    assert.deepEqual(valuesOf('\uFEFFf(\r\n  "a",\r\n)\r\ng("""x\r\ny""")\r\n'), [
      ['f', ['', 'a']],
      ['g', ['', 'x\ny']],
    ])
    assert.deepEqual(problemsOf('\uFEFFf(1)'), ['1:3: numbers are not supported: write a string'])
  })

  const strings: readonly (readonly [literal: string, value: string])[] = [
    [`'a"b'`, 'a"b'],
    [`"a'b"`, "a'b"],
    [`""`, ''],
    [`''''''`, ''],
    [`"""a"b""c"""`, 'a"b""c'],
    [`'''a\nb'''`, 'a\nb'],
    [String.raw`"\n\t\\\"\'\a\b\f\v\r"`, '\n\t\\"\'\x07\b\f\v\r'],
    [String.raw`"\x41\u00e9\U0001F600\101"`, 'Aé😀A'],
    ['"a\\\nb"', 'ab'],
    ['"a\\\r\nb"', 'ab'],
    [String.raw`r"\d\n"`, '\\d\\n'],
    [String.raw`r"a\"b"`, 'a\\"b'],
    [String.raw`R'\\'`, '\\\\'],
    ['"ü 😀 \u2028"', 'ü 😀 \u2028'],
  ]
  for (const [literal, value] of strings) {
    test(`reads the string ${JSON.stringify(literal)}`, () =>
      assert.deepEqual(valuesOf(`f(${literal})`), [['f', ['', value]]]))
  }

  test('reads back every word that is written as JSON', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (words) => {
        fc.pre(words.every((word) => !word.includes('\0')))
        assert.deepEqual(valuesOf(`f([${words.map((word) => JSON.stringify(word)).join(', ')}])`), [['f', ['', words]]])
      }),
    )
  })

  const EXPRESSIONS = 'expressions are not supported: a rules file has calls with strings and lists, nothing else'
  const CALLS = 'a rules file has calls such as prefix_rule(…), nothing else'
  const refused: readonly (readonly [text: string, ...problems: string[]])[] = [
    ['x = 1', `1:1: assignments are not supported: ${CALLS}`],
    ['def f():\n  pass', `1:1: \`def\` is no call: ${CALLS}`],
    ['load("x")("y")', '1:10: expected the end of the line after the call, found `(`'],
    ['"text"', '1:1: expected a call, found a string'],
    ['f(x)', '1:3: variables and calls are not supported within a call: `x`'],
    ['f(g())', '1:3: variables and calls are not supported within a call: `g`'],
    ['f("a" + "b")', `1:7: ${EXPRESSIONS}`],
    ['f(a == "b")', `1:5: ${EXPRESSIONS}`],
    ['f("a" "b")', '1:7: expected `,` or `)`, found a string'],
    ['f(f"a")', '1:3: strings cannot begin with `f`: write the text itself, or r"…"'],
    ['f(b"a")', '1:3: strings cannot begin with `b`: write the text itself, or r"…"'],
    ['f({})', '1:3: dictionaries are not supported'],
    ['f(("a",))', '1:3: expected a string, a list, True, False or None, found `(`'],
    ['f(,)', '1:3: expected a string, a list, True, False or None, found `,`'],
    ['f(["a"', '1:7: expected `,` or `]`, found the end of the file'],
    ['f("a)', '1:3: the string is never closed'],
    ['f("a\n")', '1:3: the string is not closed on its line: use """ for several'],
    ['f("\\q")', '1:4: unknown escape: write `\\\\` for a backslash, or put an r before the string'],
    ['f("\\xff")', '1:4: use \\u for characters beyond ASCII'],
    ['f("\\ud800")', '1:4: there is no such character'],
    ['f("\\U00110000")', '1:4: there is no such character'],
    ['f("\\0")', '1:3: a string cannot hold a NUL character'],
    ['f("a\0")', '1:5: a NUL or a lone carriage return in a string'],
    ['\0', '1:1: the file holds a NUL character: it is not text'],
    ['# a\0\nf()', '1:4: the file holds a NUL character: it is not text'],
    ['f()\rg()', '1:4: a carriage return that ends no line: save the file with ordinary line ends'],
    ['f() \\\n', '1:5: lines are continued only within brackets, and need no `\\` there'],
    ['f(\u00a0)', '1:3: unexpected character U+00A0'],
    ['é()', '1:1: unexpected character U+00E9'],
    ['f("😀", 1)', '1:8: numbers are not supported: write a string'],
    ['f(;)', '1:3: unexpected `;` within brackets'],
    [')', '1:1: expected a call, found `)`'],
  ]
  for (const [text, ...problems] of refused) {
    test(`is refused for ${JSON.stringify(text)}`, () => assert.deepEqual(problemsOf(text), problems))
  }

  test('is told all its mistakes at once', () => {
    assert.deepEqual(problemsOf('f(1)\ng("ok")\nh(x)\n\n  i()\nj([)'), [
      '1:3: numbers are not supported: write a string',
      '3:3: variables and calls are not supported within a call: `x`',
      '6:4: expected a string, a list, True, False or None, found `)`',
    ])
    assert.equal(parseCalls('f(1)\n'.repeat(1000)).refusals.length, 50)
  })
})

describe('a hostile rules file', () => {
  const MEGABYTE = 1024 * 1024
  const hostile: Readonly<Record<string, string>> = {
    'nothing but brackets': `f(${'['.repeat(MEGABYTE)}`,
    'nothing but parentheses': 'f('.repeat(MEGABYTE / 2),
    'a string without end': `f("${'a'.repeat(MEGABYTE)}`,
    'many strings without end': 'f("""\n'.repeat(MEGABYTE / 6),
    'a very long name': 'a'.repeat(MEGABYTE),
    'nothing but backslashes': `f("${'\\'.repeat(MEGABYTE)}`,
    'nothing but quotes': '"'.repeat(MEGABYTE),
    'closing brackets only': ']'.repeat(MEGABYTE),
    'NUL only': '\0'.repeat(MEGABYTE),
  }
  for (const [what, text] of Object.entries(hostile)) {
    test(`with ${what} is refused`, () => {
      const problems = problemsOf(text)
      assert.ok(problems.length > 0)
      for (const problem of problems) assert.ok(problem.length < 300)
    })
  }

  test('of a megabyte of comments, blank lines or calls is read', () => {
    for (const text of ['#'.repeat(MEGABYTE), '\n'.repeat(MEGABYTE), ' '.repeat(MEGABYTE)])
      assert.deepEqual(valuesOf(text), [])
    assert.equal(parseCalls('f("a")\n'.repeat(MEGABYTE / 7)).calls.length, Math.floor(MEGABYTE / 7))
  })

  test('never makes the reader fail in any other way, whatever it holds', () => {
    const pieces = [
      'f(',
      ')',
      '[',
      ']',
      '"',
      "'",
      '"""',
      '\\',
      '\n',
      '\r',
      ',',
      '=',
      'True',
      'r',
      '#',
      ';',
      'a',
      ' ',
      '\0',
      'é',
      '1',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 60 }), (parts) => {
        const { calls, refusals } = parseCalls(parts.join(''))
        assert.ok(calls.length >= 0 && refusals.length <= 50)
      }),
      { numRuns: 2000 },
    )
  })
})
