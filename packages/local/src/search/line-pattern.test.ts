import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import fc from 'fast-check'
import { casedLetters, caseVariants } from './case-variants.ts'
import { grepRequest, ripgrepForTests, TestTree } from './fixtures/tree.ts'
import { type GrepRequest, grep } from './grep.ts'
import { compilePattern } from './line-pattern.ts'

const ripgrep = ripgrepForTests()

/** The columns at which lines match, 0 where they do not. */
async function columns(tree: TestTree, lines: number, options: Partial<GrepRequest>, program: string | undefined) {
  const answer = await grep(grepRequest(tree.root, options), { ripgrep: program }, new AbortController().signal)
  assert.deepEqual(answer.errors, [])
  const found = new Array<number>(lines).fill(0)
  for (const { matches } of answer.files) for (const { line, column } of matches) found[line - 1] = column
  return found
}

describe('a pattern means the same to both engines', () => {
  const cases: { pattern: string; line: string | Uint8Array; column: number; ignoreCase?: true; fixed?: true }[] = [
    { pattern: 'b', line: 'abc', column: 2 },
    { pattern: '', line: 'abc', column: 1 },
    { pattern: '|x', line: 'abc', column: 1 },
    { pattern: '()c', line: 'abc', column: 3 },
    { pattern: '^', line: '', column: 1 },
    { pattern: '^$', line: '', column: 1 },
    { pattern: '^$', line: '\r', column: 1 },
    { pattern: 'c$', line: 'abc\r', column: 3 },
    { pattern: '$', line: 'abc\r', column: 4 },
    { pattern: '.', line: '\r', column: 0 },
    { pattern: '\\s+$', line: 'abc\r', column: 0 },
    { pattern: '[^a]$', line: 'a\r', column: 0 },
    { pattern: '\\r$', line: 'abc\r', column: 4 },
    { pattern: '[\\r\\n]', line: 'abc\r', column: 4 },
    { pattern: '^.{4}$', line: 'café', column: 1 },
    { pattern: '\\w+$', line: 'café', column: 0 },
    { pattern: '\\bé', line: 'caf é', column: 0 },
    { pattern: 'f\\b', line: 'café', column: 3 },
    { pattern: '\\d', line: '\u0663 3', column: 4 },
    { pattern: '\\s', line: '\u00a0x y', column: 4 },
    { pattern: '.', line: '\u2028', column: 1 },
    { pattern: '^b', line: 'a\u2028b', column: 0 },
    { pattern: '[^x]', line: new Uint8Array([0xff]), column: 0 },
    { pattern: '.b', line: new Uint8Array([0x61, 0xff, 0x62, 0x63, 0x62]), column: 4 },
    { pattern: '^é', line: '\u00e9\u00ff', column: 1 },
    { pattern: '\\x41\\u0042\\u{43}', line: 'xABC', column: 2 },
    { pattern: '[😀-😂]', line: 'é😁', column: 3 },
    { pattern: '\\[\\]{}]'.replace('{}', '\\{}'), line: '[]{}]', column: 1 },
    { pattern: 'a{2,3}b', line: 'aaaaab', column: 3 },
    { pattern: '(a|ab)(c|bcd)', line: 'xabcd', column: 2 },
    { pattern: '(?:a?){3}b*?c', line: 'xaac', column: 2 },
    { pattern: 'É', line: 'éa', column: 1, ignoreCase: true },
    { pattern: '[^é]', line: 'ÉÉx', column: 5, ignoreCase: true },
    { pattern: 'k', line: '\u212a', column: 1, ignoreCase: true },
    { pattern: '\\w', line: '\u212a', column: 0, ignoreCase: true },
    { pattern: '[\\W]', line: 's', column: 0, ignoreCase: true },
    { pattern: 'ss', line: 'ß', column: 0, ignoreCase: true },
    { pattern: 'a.c(', line: 'abc( a.c(', column: 6, fixed: true },
    { pattern: 'A.C', line: 'abc a.c', column: 5, fixed: true, ignoreCase: true },
  ]
  for (const [engine, program] of [['ripgrep', ripgrep] as const, ['our own', undefined] as const]) {
    for (const { pattern, line, column, ...options } of cases) {
      test(`${JSON.stringify(pattern)} in ${JSON.stringify(line)} (${engine})`, async () => {
        using tree = new TestTree({ file: Buffer.concat([Buffer.from(line as string), Buffer.from('\n')]) })
        assert.deepEqual(await columns(tree, 1, { pattern, ...options }, program), [column])
      })
    }
  }

  test('whatever the pattern, and whatever the lines', async () => {
    const character = fc.constantFrom(
      'a',
      'b',
      'S',
      'k',
      '_',
      ' ',
      '0',
      'é',
      'É',
      '😀',
      '-',
      '\\.',
      '\\t',
      '\\r',
      '\\x62',
    )
    const shorthand = fc.constantFrom('\\d', '\\w', '\\s', '\\D', '\\W', '\\S')
    const member = fc.oneof(character, shorthand, fc.constantFrom('a-f', '0-9', 'à-ö', '\\n'))
    const set = fc
      .tuple(fc.constantFrom('[', '[^'), fc.array(member, { minLength: 1, maxLength: 3 }))
      .map(([open, members]) => `${open}${members.join('').replaceAll('--', '-')}]`)
    const { expression } = fc.letrec<{ expression: string; branch: string; item: string; atom: string }>((tie) => ({
      expression: fc.array(tie('branch'), { minLength: 1, maxLength: 3 }).map((branches) => branches.join('|')),
      branch: fc.array(tie('item'), { maxLength: 4 }).map((items) => items.join('')),
      item: fc.oneof(
        fc.constantFrom('^', '$', '\\b'),
        fc
          .tuple(tie('atom'), fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,}', '{0,2}', '*?', '+?', '??'))
          .map(([atom, quantifier]) => atom + quantifier),
      ),
      atom: fc.oneof(
        { depthSize: 'small' },
        character,
        fc.constant('.'),
        shorthand,
        set,
        tie('expression').map((inner) => `(${inner})`),
      ),
    }))
    const piece = fc.constantFrom(
      'a',
      'b',
      's',
      'K',
      '_',
      ' ',
      '0',
      'é',
      'É',
      '😀',
      '-',
      '.',
      '\t',
      '\r',
      'ſ',
      'ab',
      '\u2028',
    )
    const bytes = fc.oneof(
      { weight: 8, arbitrary: piece.map((text) => Buffer.from(text)) },
      {
        weight: 1,
        arbitrary: fc.constantFrom([0xff], [0xc3], [0xe2, 0x82], [0x80], [0xed, 0xa0, 0x80]).map(Buffer.from),
      },
    )
    const line = fc.array(bytes, { maxLength: 8 }).map((parts) => Buffer.concat(parts))
    const lines = fc.tuple(fc.array(line, { minLength: 1, maxLength: 20 }), fc.boolean())
    await fc.assert(
      fc.asyncProperty(expression, lines, fc.boolean(), async (pattern, [texts, ended], ignoreCase) => {
        try {
          compilePattern(pattern, { fixed: false, ignoreCase })
        } catch (error) {
          fc.pre(!ExecError.is(error))
        }
        const content = Buffer.concat(texts.flatMap((text) => [text, Buffer.from('\n')]))
        using tree = new TestTree({ file: ended ? content : content.subarray(0, -1) })
        const ours = await columns(tree, texts.length, { pattern, ignoreCase }, undefined)
        assert.deepEqual(ours, await columns(tree, texts.length, { pattern, ignoreCase }, ripgrep), pattern)
      }),
      { numRuns: 300 },
    )
  })

  test('the largest that is taken is one that both take', async () => {
    using tree = new TestTree({ file: `${'é'.repeat(5000)}\n` })
    for (const pattern of ['.{1000}', `(?:${'[^a]'.repeat(4)}){250}`, '.'.repeat(1000)]) {
      const ours = await columns(tree, 1, { pattern }, undefined)
      assert.deepEqual(ours, [1], pattern)
      assert.deepEqual(await columns(tree, 1, { pattern }, ripgrep), ours, pattern)
    }
  })
})

describe('a pattern is refused', () => {
  const refused: [pattern: string, because: RegExp][] = [
    ['(?=a)', /look-around/],
    ['(?<!a)b', /look-around/],
    ['(?>a)', /atomic/],
    ['(?i)a', /inline flag/],
    ['(?i:a)', /inline flag/],
    ['(?<name>a)', /named group/],
    ['(?P<name>a)', /named group/],
    ['(a)\\1', /back-reference/],
    ['a++', /possessive/],
    ['a{2}{3}', /quantifier of a quantifier/],
    ['\\b*', /repeated assertion/],
    ['\\b^a', /behind something/],
    ['x(^|y)', /behind something/],
    ['(?:^a)*', /repeated \^/],
    ['.{1000}.{1000}', /too large/],
    ['*a', /nothing to repeat/],
    ['a{', /begins no quantifier/],
    ['a{3,2}', /from more to less/],
    ['a{1001}', /repetitions/],
    ['((((a{100}){100}){100}){100})', /too large/],
    ['\\p{L}', /tables differ/],
    ['\\B', /\\B/],
    ['\\A', /\\A/],
    ['\\<a', /\\</],
    ['\\cA', /\\c/],
    ['\\0', /\\0/],
    ['\\x{41}', /\\x/],
    ['\\ud83d', /no character/],
    ['a\\nb', /no line contains/],
    ['a\nb', /line end/],
    ['[a', /without its \]/],
    ['[]a]', /empty set/],
    ['[[:alpha:]]', /\[ in a set/],
    ['[a&&b]', /doubled/],
    ['[b-a]', /backwards/],
    ['[\\d-z]', /no character/],
    ['[\\b]', /\\b/],
    ['(a', /without its \)/],
    ['a)', /without its \(/],
    ['a\\', /backslash at the end/],
    ['\ud800', /surrogate/],
    ['a'.repeat(4097), /longer than 4096/],
    ['('.repeat(101), /inside each other/],
  ]
  for (const [pattern, because] of refused) {
    test(`${JSON.stringify(pattern).slice(0, 40)}, and the error names ${because.source}`, () => {
      assert.throws(
        () => compilePattern(pattern, { fixed: false, ignoreCase: false }),
        (error) => ExecError.is(error, 'FILE_INVALID') && because.test(error.message),
      )
    })
  }
})

test('letters are the same but for their case where the runtime says so, too', () => {
  for (const letter of casedLetters()) {
    const source = new RegExp(`^\\u{${letter.toString(16)}}$`, 'iu')
    for (const variant of caseVariants(letter)) assert.match(String.fromCodePoint(variant), source)
  }
})
