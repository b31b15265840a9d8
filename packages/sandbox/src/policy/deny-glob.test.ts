import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DenyGlob, literal } from './deny-glob.ts'
import { matchesName, parseName } from './name-pattern.ts'
import { PolicyError } from './policy-error.ts'

const denies = (pattern: string, path: string) => DenyGlob.parse(pattern).some((glob) => glob.matches(path))

function assertDenies(pattern: string, { yes, no }: { yes: readonly string[]; no: readonly string[] }): void {
  for (const path of yes) assert.ok(denies(pattern, path), `${pattern} should deny ${path}`)
  for (const path of no) assert.ok(!denies(pattern, path), `${pattern} should not deny ${path}`)
}

const refuses = (pattern: string, message: RegExp) =>
  assert.throws(
    () => DenyGlob.parse(pattern),
    (error: unknown) => error instanceof PolicyError && error.kind === 'unenforceable' && message.test(error.message),
    pattern,
  )

describe('a deny pattern', () => {
  test('with `*` or `?` stays within a name', () => {
    assertDenies('/w/*.env', { yes: ['/w/.env', '/w/a.env', '/w/a.env/below'], no: ['/w/a/b.env', '/w', '/w/a.envy'] })
    assertDenies('/w/a?c', { yes: ['/w/abc', '/w/aüc', '/w/a😀c'], no: ['/w/ac', '/w/abbc', '/w/a/c'] })
    assertDenies('/w/*/x', { yes: ['/w/a/x', '/w/a/x/y'], no: ['/w/x', '/w/a/b/x'] })
  })

  test('with `**` crosses any number of names, and none', () => {
    assertDenies('/w/**/*.env', { yes: ['/w/a.env', '/w/a/b.env', '/w/a/b/c/.env'], no: ['/w', '/x/a.env'] })
    assertDenies('/w/a/**/b', { yes: ['/w/a/b', '/w/a/x/b', '/w/a/x/y/b/z'], no: ['/w/b', '/w/a', '/w/a/bb'] })
    assertDenies('/w/**/**/b', { yes: ['/w/b', '/w/x/b'], no: ['/w/x'] })
  })

  test('that ends in `**` denies everything below, but not the directory itself', () => {
    assertDenies('/w/secret/**', { yes: ['/w/secret/a', '/w/secret/a/b'], no: ['/w/secret', '/w/secrets/a', '/w'] })
    assertDenies('/w/**/**', { yes: ['/w/a', '/w/a/b'], no: ['/w'] })
    assertDenies('/w/*/**', { yes: ['/w/a/b'], no: ['/w/a'] })
  })

  test('takes `**` beside other characters for `*`', () => {
    assertDenies('/w/a**b', { yes: ['/w/ab', '/w/axxb'], no: ['/w/a/b'] })
    assertDenies('/w/***', { yes: ['/w/a'], no: ['/w'] })
  })

  test('makes no difference between upper and lower case', () => {
    assertDenies('/w/*.env', { yes: ['/w/A.ENV', '/w/.Env'], no: ['/W/a.env', '/w/a.en'] })
    assertDenies('/w/Maß*', { yes: ['/w/maß', '/w/MAß.txt'], no: ['/w/mas'] })
    assertDenies('/w/[a-c]x', { yes: ['/w/BX'], no: ['/w/DX'] })
    assertDenies('/w/[!a-c]x', { yes: ['/w/DX'], no: ['/w/BX', '/w/bx'] })
  })

  test('knows classes', () => {
    assertDenies('/w/[abx-z]', { yes: ['/w/a', '/w/b', '/w/y'], no: ['/w/c', '/w/ab', '/w/-'] })
    assertDenies('/w/[!a-c]x', { yes: ['/w/dx', '/w/üx'], no: ['/w/ax', '/w/x', '/w/d'] })
    assertDenies('/w/[^a-c]x', { yes: ['/w/dx'], no: ['/w/ax'] })
    assertDenies('/w/[]a]', { yes: ['/w/]', '/w/a'], no: ['/w/b'] })
    assertDenies('/w/[!]]', { yes: ['/w/a'], no: ['/w/]'] })
    assertDenies('/w/[a-]', { yes: ['/w/a', '/w/-'], no: ['/w/b'] })
    assertDenies('/w/[{,}]', { yes: ['/w/{', '/w/,', '/w/}'], no: ['/w/[]', '/w/x'] })
    refuses('/w/[z-a]', /goes backwards/)
    refuses('/w/[[:digit:]]', /a class with a name/)
  })

  test('takes a bracket that is never closed for a character', () => {
    assertDenies('/w/a[b', { yes: ['/w/a[b'], no: ['/w/ab'] })
    assertDenies('/w/[a/b]', { yes: ['/w/[a/b]'], no: ['/w/a', '/w/b'] })
    assertDenies('/w/[]', { yes: ['/w/[]'], no: ['/w/', '/w/x'] })
  })

  test('knows choices', () => {
    assertDenies('/w/*.{env,key}', { yes: ['/w/a.env', '/w/b.key'], no: ['/w/a.txt', '/w/*.{env,key}'] })
    assertDenies('/{w,v}/x', { yes: ['/w/x', '/v/x'], no: ['/u/x'] })
    assertDenies('/w/{a,b/{c,d}}', { yes: ['/w/a', '/w/b/c', '/w/b/d'], no: ['/w/b', '/w/c'] })
    assertDenies('/w/{,a}x', { yes: ['/w/x', '/w/ax'], no: ['/w/bx'] })
  })

  test('takes a brace without a choice, or after a backslash, for a character', () => {
    assertDenies('/w/{a}', { yes: ['/w/{a}'], no: ['/w/a'] })
    assertDenies('/w/{a,b', { yes: ['/w/{a,b'], no: ['/w/a', '/w/b'] })
    assertDenies('/w/\\{a,b}', { yes: ['/w/{a,b}'], no: ['/w/a'] })
    assertDenies('/w/\\*', { yes: ['/w/*'], no: ['/w/a'] })
  })

  test('says under which directory its matches are', () => {
    const directory = (pattern: string) => DenyGlob.parse(pattern)[0]!.directory
    assert.equal(directory('/a/b/*.env'), '/a/b')
    assert.equal(directory('/a//./b/**'), '/a/b')
    assert.equal(directory('/a/b/c'), '/a/b')
    assert.equal(directory('/*/x'), '/')
    assert.equal(directory('/a\\[1\\]/b[/*.env'), '/a[1]/b[')
  })

  test('without wildcards means one path', () => {
    assert.equal(DenyGlob.parse('/a/b\\*')[0]!.path, '/a/b*')
    for (const pattern of ['/a/*', '/a/**', '/a/*/b']) assert.equal(DenyGlob.parse(pattern)[0]!.path, undefined)
  })

  test('means the same below the directory that its own leads to', () => {
    const [glob] = DenyGlob.parse('/link/x/*/[ab]')
    const moved = glob!.at('/real{1}/y')
    assert.equal(moved.directory, '/real{1}/y')
    assert.ok(moved.matches('/real{1}/y/q/a'))
    assert.ok(!moved.matches('/link/x/q/a'))
    assert.ok(DenyGlob.parse('/a/b')[0]!.at('/')!.matches('/b'))
  })

  test('that nobody could enforce is refused', () => {
    refuses(`/w/${'x'.repeat(4096)}`, /at most 4096/)
    refuses('/w/a\0b', /NUL/)
    refuses('/w/../x', /goes up/)
    refuses('/w/{..,a}/x', /goes up/)
    refuses('/w/\\.\\./x', /goes up/)
    refuses(`/w/${'{a,b}'.repeat(7)}`, /more than 64 alternatives/)
    refuses(`/w/{${','.repeat(4000)}}`, /more than 64 alternatives/)
    assert.equal(DenyGlob.parse(`/w/${'{a,b}'.repeat(6)}`).length, 64)
  })
})

describe('names of directories in a pattern', () => {
  test('are literal, whatever they are made of', () => {
    const name = fc.string({ unit: fc.constantFrom(...'ab*?[]{},\\!^-. ü😀'), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 3 }), (names) => {
        fc.pre(!names.some((each) => /^\.+$/.test(each.replaceAll('\\', ''))))
        const directory = `/${names.join('/')}`
        const [glob, ...others] = DenyGlob.parse(`${literal(directory)}/*.env`)
        assert.deepEqual(others, [])
        assert.equal(glob!.directory, directory)
        assert.ok(glob!.matches(`${directory}/x.env`))
      }),
    )
  })
})

describe('matching', () => {
  /** Tries everything. `undefined` is `**`. */
  function naive(steps: readonly (string | undefined)[], names: readonly string[]): boolean {
    if (steps.length === 0) return true
    const [step, ...rest] = steps
    if (step === undefined) {
      if (rest.length === 0) return names.length > 0
      return naive(rest, names) || (names.length > 0 && naive(steps, names.slice(1)))
    }
    return names.length > 0 && naiveName(step, names[0]!) && naive(rest, names.slice(1))
  }
  function naiveName(pattern: string, name: string): boolean {
    if (pattern === '') return name === ''
    if (pattern[0] === '*')
      return naiveName(pattern.slice(1), name) || (name !== '' && naiveName(pattern, name.slice(1)))
    if (name === '') return false
    const [, negated, members] = /^\[(!?)([ab]+)\]/.exec(pattern) ?? []
    if (members !== undefined) {
      const isMember = members.includes(name[0]!)
      return isMember !== (negated === '!') && naiveName(pattern.slice(pattern.indexOf(']') + 1), name.slice(1))
    }
    return (pattern[0] === '?' || pattern[0] === name[0]) && naiveName(pattern.slice(1), name.slice(1))
  }

  const namePattern = fc
    .array(fc.constantFrom('a', 'b', '.', '*', '?', '[ab]', '[!a]', '[!ab]'), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join(''))
    .filter((pattern) => !/^(\*\*|\.{1,2})$/.test(pattern))
  const name = fc
    .string({ unit: fc.constantFrom('a', 'b', '.', 'c'), minLength: 1, maxLength: 5 })
    .filter((text) => text !== '.' && text !== '..')
  const step = fc.oneof({ weight: 3, arbitrary: namePattern }, { weight: 1, arbitrary: fc.constant(undefined) })

  test('agrees with trying everything', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 5 }),
        fc.array(name, { minLength: 1, maxLength: 6 }),
        (steps, names) => {
          const pattern = `/${steps.map((each) => each ?? '**').join('/')}`
          const expected = names.some((_, index) => naive(steps, names.slice(0, index + 1)))
          assert.equal(denies(pattern, `/${names.join('/')}`), expected, pattern)
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('a name takes at most pattern times name steps', () => {
    let steps = 0
    const count = (pattern: string, text: string) => {
      steps = 0
      const tokens = parseName(pattern)
      const counted = new Proxy(tokens, {
        get(target, key) {
          if (key !== 'length') steps++
          return Reflect.get(target, key)
        },
      })
      assert.equal(matchesName(counted, text), false)
      return steps
    }
    for (const pattern of [
      `${'*a'.repeat(100)}b`,
      `${'*?'.repeat(100)}b`,
      `*${'a'.repeat(100)}b`,
      `${'*'.repeat(200)}b`,
    ]) {
      assert.ok(count(pattern, 'a'.repeat(255)) <= 2 * pattern.length * 255, pattern)
    }
  })

  test('many `**` and long paths end, where trying everything would not', () => {
    const pattern = `/w${'/**/a'.repeat(400)}/b`
    assert.equal(denies(pattern, `/w${'/a'.repeat(2000)}`), false)
    assert.equal(denies(pattern, `/w${'/a'.repeat(2000)}/b`), true)
    assert.equal(denies(`/w/${'['.repeat(4000)}`, `/w/${'['.repeat(4000)}`), true)
    assert.throws(() => DenyGlob.parse(`/w/${'{,}['.repeat(900)}`), PolicyError)
  })
})
