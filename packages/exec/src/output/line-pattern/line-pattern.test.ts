import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LinePattern } from './line-pattern.ts'
import { PatternError } from './pattern-error.ts'

const finds = (pattern: string, line: string) => LinePattern.parse(pattern).test(line)

function assertFinds(pattern: string, { yes, no }: { yes: readonly string[]; no: readonly string[] }): void {
  for (const line of yes) assert.ok(finds(pattern, line), `${pattern} should find ${JSON.stringify(line)}`)
  for (const line of no) assert.ok(!finds(pattern, line), `${pattern} should not find ${JSON.stringify(line)}`)
}

const refuses = (pattern: string, message: RegExp) =>
  assert.throws(
    () => LinePattern.parse(pattern),
    (error: unknown) => error instanceof PatternError && message.test(error.message),
    pattern,
  )

/**
 * Patterns that JavaScript reads the same way, over few letters, so that they find something. Without `\B`: on Node that
 * finds a place inside of an emoji.
 */
const { pattern: randomPattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    tie('part'),
    fc.array(tie('pattern'), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.array(tie('pattern'), { minLength: 2, maxLength: 3 }).map((options) => `(?:${options.join('|')})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?', '+?'))
      .map(([part, counts]) => `(${part})${counts}`),
  ),
  part: fc.constantFrom('a', 'b', '€', '😀', '.', '[ab]', '[^a]', '[^\\w€]', '\\w', '\\W', '\\s', '\\b', '^', '$', '_'),
}))
const line = fc
  .array(fc.constantFrom('a', 'b', 'c', '€', '😀', ' ', '_', '-'), { maxLength: 12 })
  .map((all) => all.join(''))

describe('a pattern', () => {
  test('finds what a regular expression of JavaScript finds', () => {
    fc.assert(
      fc.property(randomPattern, fc.array(line, { minLength: 1, maxLength: 5 }), (pattern, lines) => {
        const own = LinePattern.parse(pattern)
        const expected = new RegExp(pattern, 'u')
        for (const line of lines)
          assert.equal(own.test(line), expected.test(line), `/${pattern}/ on ${JSON.stringify(line)}`)
      }),
      { numRuns: 2000 },
    )
  })

  test('is what people type', () => {
    assertFinds('error|warning: ', { yes: ['an error', 'warning: x'], no: ['warning', 'Error'] })
    assertFinds('(?i)error', { yes: ['ERROR', 'eRRor'], no: ['err'] })
    assertFinds('(?i)[^a-c]', { yes: ['d', 'ABCD'], no: ['aBc'] })
    assertFinds('(?i)straße|Ä', { yes: ['STRAßE', 'ä'], no: ['STRASSE'] })
    assertFinds('^\\s*at .+:\\d+:\\d+\\)$', { yes: ['    at f (x.ts:3:14)'], no: ['at f (x.ts:3:14) '] })
    assertFinds('exit code [1-9]\\d{0,2}\\b', { yes: ['exit code 137.'], no: ['exit code 0', 'exit code 1370'] })
    assertFinds('(?<name>a)\\.[\\]\\-x]', { yes: ['a.]', 'a.-', 'a.x'], no: ['ab]', 'a.\\'] })
    assertFinds('\\x41\\u0042\\u{1F600}\\t', { yes: ['AB😀\t'], no: ['AB😀'] })
    assertFinds('a{,2}|{x}', { yes: ['a{,2}', '{x}'], no: ['aa'] })
    assertFinds('\\Bb|c\\B', { yes: ['ab', 'cd', '_b'], no: ['b', 'a c', 'c'] })
    assertFinds('\\B', { yes: ['', 'ab', '😀'], no: ['a', 'a😀a'] })
    assertFinds('', { yes: ['', 'x'], no: [] })
    assertFinds('^$', { yes: [''], no: ['x'] })
  })

  test('says where it saw a match, which is right behind it', () => {
    const bytes = new TextEncoder().encode('..abc..')
    assert.equal(LinePattern.parse('abc').search(bytes, 0, bytes.length), 5)
    assert.equal(LinePattern.parse('c\\.\\.$').search(bytes, 0, bytes.length), 7)
    assert.equal(LinePattern.parse('abc').search(bytes, 3, bytes.length), undefined)
  })

  test('takes what is no UTF-8 for replacement characters', () => {
    const bytes = Uint8Array.of(0x61, 0xff, 0xe2, 0x82, 0x62)
    assert.notEqual(LinePattern.parse('^a\\ufffd{3}b$').search(bytes, 0, bytes.length), undefined)
  })

  test('that is wrong, or that takes going back, is refused with what to write instead', () => {
    refuses('foo(', /at character 5: a group that is never closed: write `\\\(`/)
    refuses('a)', /without a group: write `\\\)`/)
    refuses('[a', /never closed: write `\\\[`/)
    refuses('[]', /an empty class/)
    refuses('[[:alpha:]]', /a class with a name/)
    refuses('[z-a]', /backwards/)
    refuses('[\\d-z]', /begins or ends with a class/)
    refuses('a{3,2}', /`\{3,2\}` goes backwards/)
    for (const pattern of ['*a', 'a**', '|+', '(?:+)', 'a*?+']) refuses(pattern, /nothing to repeat/)
    refuses('^*', /cannot be repeated/)
    for (const pattern of ['(a)\\1', '\\k<a>']) refuses(pattern, /back references are not supported/)
    for (const pattern of ['(?=a)', '(?!a)', '(?<=a)', '(?<!a)', 'a(?i)b']) refuses(pattern, /look-around and flags/)
    refuses('\\p{L}', /`\\p` is not supported/)
    refuses('a\\', /it ends in the middle/)
    refuses('\\u{110000}', /no character/)
  })

  test('that is too large is refused before it costs anything', () => {
    refuses('a'.repeat(1001), /has 1001 characters, and 1000 is the most/)
    refuses('('.repeat(500) + ')'.repeat(500), /nested more than 50 deep/)
    refuses('a{1001}', /more than 1000 times/)
    for (const pattern of ['((a{100}){100}){100}', '(((){1000}){1000}){1000}', '(((x?){99}){99}){99}']) {
      refuses(pattern, /too large, with all its repetitions/)
    }
  })

  test('that would take others forever takes no longer than the text is long', () => {
    const text = new TextEncoder().encode(`${'a'.repeat(1_000_000)}!`)
    for (const pattern of [
      '(a+)+$',
      '(a|aa)+$',
      '(.*)*x',
      'a*a*a*a*a*a*a*b',
      '(a?){30}a{30}b',
      '^(([a-z])+.)+[A-Z]([a-z])+$',
    ]) {
      const own = LinePattern.parse(pattern)
      assert.equal(own.search(text, 0, text.length), undefined, pattern)
      assert.ok(!own.isSpent, pattern)
    }
  })

  test('with too many states for any table gives up, and says so', () => {
    const own = LinePattern.parse('[ab]*a[ab]{700}[ab]{700}c')
    let seed = 1
    const text = Uint8Array.from({ length: 1_000_000 }, () => {
      seed = (seed * 48_271) % 0x7fffffff
      return seed % 2 === 0 ? 0x61 : 0x62
    })
    assert.equal(own.search(text, 0, text.length), undefined)
    assert.ok(own.isSpent)
    assert.ok(!own.test('c'))
  })

  test('forgets states that there is no room for, and finds the same', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b'), { minLength: 3000, maxLength: 3000 }), (letters) => {
        const line = letters.join('')
        const pattern = '[ab]*a[ab]{14}c'
        // Many letters that are told apart make the table full sooner.
        const wide = `${pattern}|[${Array.from({ length: 200 }, (_, i) => String.fromCodePoint(0x400 + 2 * i)).join('')}]x`
        assert.equal(finds(wide, line), false)
        const own = LinePattern.parse(wide)
        assert.ok(own.test(`${line}a${'b'.repeat(14)}c`))
        assert.ok(!own.isSpent)
      }),
      { numRuns: 10 },
    )
  })
})
