import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Access } from '@waldo/protocol'
import fc from 'fast-check'
import { DenyGlob } from './deny-glob.ts'
import { type FileRule, FileRules } from './file-rules.ts'

const rule = (access: Access, path: string, more: Partial<FileRule> = {}): FileRule => ({
  path,
  access,
  origin: path,
  exists: true,
  isDirectory: true,
  links: [],
  protects: [],
  ...more,
})
const rulesOf = (rules: readonly FileRule[], patterns: readonly string[] = [], globDepth?: number) =>
  new FileRules({ rules, globs: patterns.flatMap((pattern) => DenyGlob.parse(pattern)), globDepth })

describe('which rule decides', () => {
  test('is the one that names most of the path', () => {
    const rules = rulesOf([rule('read', '/'), rule('write', '/a'), rule('deny', '/a/b'), rule('read', '/a/b/c')])
    assert.deepEqual(rules.decide('/x'), { access: 'read', rule: 'read /', explicit: true })
    assert.deepEqual(rules.decide('/a'), { access: 'write', rule: 'write /a', explicit: true })
    assert.deepEqual(rules.decide('/a/b/x'), { access: 'none', rule: 'deny /a/b', explicit: true })
    assert.deepEqual(rules.decide('/a/b/c/d'), { access: 'read', rule: 'read /a/b/c', explicit: true })
    assert.deepEqual(rules.decide('/ab').access, 'read')
  })

  test('is nobody for a path of which nothing is said', () => {
    assert.deepEqual(rulesOf([rule('read', '/a')]).decide('/b'), {
      access: 'none',
      rule: 'not in the profile',
      explicit: false,
    })
  })

  test('is the strictest of those for one path, but `write` includes reading', () => {
    const tie = (...all: Access[]) => rulesOf(all.map((access) => rule(access, '/a'))).decide('/a').access
    assert.equal(tie('read', 'write'), 'write')
    assert.equal(tie('write', 'read'), 'write')
    assert.equal(tie('write', 'deny', 'read'), 'none')
  })

  test('is a pattern before everything else', () => {
    const rules = rulesOf([rule('write', '/'), rule('write', '/a/x.env')], ['/a/*.env'])
    assert.deepEqual(rules.decide('/a/x.env/y'), { access: 'none', rule: 'deny /a/*.env', explicit: true })
    assert.equal(rules.decide('/a/x').access, 'write')
  })
})

describe('protected names', () => {
  const rules = rulesOf([
    rule('write', '/w', { protects: ['.git', '.codex'] }),
    rule('write', '/w/.git/objects'),
    rule('write', '/w/sub', { protects: ['.git'] }),
  ])

  test('directly below a writable directory are only to be read, with all that is in them', () => {
    assert.deepEqual(rules.decide('/w/.git'), { access: 'read', rule: 'protected name .git', explicit: true })
    assert.equal(rules.decide('/w/.git/config').access, 'read')
    assert.equal(rules.decide('/w/.codex').access, 'read')
    assert.equal(rules.decide('/w/sub/.git/config').access, 'read')
  })

  test('are other names if they are longer, or deeper', () => {
    for (const path of ['/w', '/w/.gitignore', '/w/a/.git', '/w/sub/.codex', '/w/x']) {
      assert.equal(rules.decide(path).access, 'write', path)
    }
  })

  test('can be written to where an entry says so', () => {
    assert.equal(rules.decide('/w/.git/objects/aa').access, 'write')
    assert.equal(rules.decide('/w/.git/object').access, 'read')
  })

  test('stay protected if only one of two entries for a directory protects them', () => {
    const pair = [rule('write', '/t', { protects: ['.git'] }), rule('write', '/t', { protects: ['.aws'] })]
    for (const both of [pair, pair.toReversed()]) {
      assert.equal(rulesOf(both).decide('/t/.git').access, 'read')
      assert.equal(rulesOf(both).decide('/t/.aws').access, 'read')
    }
  })
})

describe('whether everything is allowed', () => {
  test('is said by the rule for the root, unless another takes something back', () => {
    const everything = (rules: readonly FileRule[], patterns?: readonly string[]) => {
      const { readsEverything, writesEverything } = rulesOf(rules, patterns)
      return { readsEverything, writesEverything }
    }
    const none = { readsEverything: false, writesEverything: false }
    const reads = { readsEverything: true, writesEverything: false }
    assert.deepEqual(everything([rule('read', '/')]), reads)
    assert.deepEqual(everything([rule('write', '/')]), { readsEverything: true, writesEverything: true })
    assert.deepEqual(everything([rule('write', '/'), rule('read', '/')]).writesEverything, true)
    assert.deepEqual(everything([rule('write', '/'), rule('read', '/a')]), reads)
    assert.deepEqual(everything([rule('write', '/'), rule('deny', '/a')]), none)
    assert.deepEqual(everything([rule('write', '/')], ['/a/*.env']), none)
    assert.deepEqual(everything([rule('write', '/a')]), none)
    assert.deepEqual(everything([rule('deny', '/')]), none)
    assert.deepEqual(everything([]), none)
  })
})

describe('resolution against a model that looks at every entry', () => {
  const names = ['a', 'b', '.git', '.codex']
  const path = fc.array(fc.constantFrom(...names), { maxLength: 4 }).map((all) => `/${all.join('/')}`)
  const anyRule = fc
    .record({
      path,
      access: fc.constantFrom<Access>('read', 'write', 'deny'),
      protects: fc.subarray(['.git', '.codex']),
    })
    .map(({ path, access, protects }) => rule(access, path, { protects: access === 'write' ? protects : [] }))
  const pattern = fc.constantFrom('/a/**', '/**/b', '/a/*/.git', '/?/b', '/[!a]')
  const anyProfile = fc.record({
    rules: fc.array(anyRule, { maxLength: 8 }),
    patterns: fc.array(pattern, { maxLength: 1 }),
  })

  function model({ rules, patterns }: { rules: readonly FileRule[]; patterns: readonly string[] }, target: string) {
    const split = (text: string) => text.split('/').filter((name) => name !== '')
    const inTarget = split(target)
    const covering = rules.filter(({ path }) => split(path).every((name, index) => inTarget[index] === name))
    const depth = Math.max(...covering.map(({ path }) => split(path).length))
    const deepest = covering.filter(({ path }) => split(path).length === depth)
    if (patterns.some((each) => new Bun.Glob(each).match(target) || isBelowMatch(each, inTarget))) return 'none'
    if (deepest.some(({ access }) => access === 'deny')) return 'none'
    const writing = deepest.filter(({ access }) => access === 'write')
    if (writing.length > 0) {
      return writing.some(({ protects }) => protects.includes((inTarget[depth] ?? '').toLowerCase())) ? 'read' : 'write'
    }
    return deepest.length > 0 ? 'read' : 'none'
  }
  const isBelowMatch = (pattern: string, target: readonly string[]) =>
    target.some((_, index) => new Bun.Glob(pattern).match(`/${target.slice(0, index).join('/')}`))

  test('is the same', () => {
    fc.assert(
      fc.property(anyProfile, fc.array(path, { minLength: 1, maxLength: 10 }), (profile, targets) => {
        const rules = rulesOf(profile.rules, profile.patterns)
        for (const target of targets) assert.equal(rules.decide(target).access, model(profile, target), target)
      }),
      { numRuns: 2000 },
    )
  })

  test('that everything is allowed means that every path is', () => {
    fc.assert(
      fc.property(anyProfile, path, (profile, target) => {
        const rules = rulesOf(profile.rules, profile.patterns)
        if (rules.readsEverything) assert.notEqual(model(profile, target), 'none')
      }),
      { numRuns: 1000 },
    )
  })

  test('the key does not depend on the order, nor does what is decided', () => {
    fc.assert(
      fc.property(anyProfile, path, fc.infiniteStream(fc.nat()), ({ rules, patterns }, target, random) => {
        const shuffled = rules
          .map((each) => ({ each, order: random.next().value as number }))
          .sort((a, b) => a.order - b.order)
          .map(({ each }) => each)
        const [one, other] = [rulesOf(rules, patterns), rulesOf(shuffled, patterns.toReversed())]
        assert.equal(one.key, other.key)
        assert.deepEqual(one.decide(target), other.decide(target))
      }),
      { numRuns: 1000 },
    )
  })

  test('the key is different for rules that decide differently', () => {
    fc.assert(
      fc.property(anyProfile, anyProfile, fc.array(path, { minLength: 5, maxLength: 20 }), (one, other, targets) => {
        const [a, b] = [rulesOf(one.rules, one.patterns), rulesOf(other.rules, other.patterns)]
        if (a.key !== b.key) return
        for (const target of targets) assert.deepEqual(a.decide(target).access, b.decide(target).access)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the key', () => {
  test('tells apart what has to be enforced differently', () => {
    const keys = [
      rulesOf([rule('read', '/a')]),
      rulesOf([rule('write', '/a')]),
      rulesOf([rule('read', '/a', { exists: false })]),
      rulesOf([rule('read', '/a', { isDirectory: false })]),
      rulesOf([rule('read', '/a', { links: ['/l'] })]),
      rulesOf([rule('write', '/a', { protects: ['.git'] })]),
      rulesOf([rule('read', '/a')], ['/a/*']),
      rulesOf([rule('read', '/a')], ['/a/*'], 2),
      rulesOf([rule('read', '/a')], ['/a/?']),
    ].map(({ key }) => key)
    assert.equal(new Set(keys).size, keys.length)
  })

  test('is the same for what was only said twice', () => {
    const once = rulesOf([rule('write', '/a'), rule('read', '/b')], ['/a/*'])
    const twice = rulesOf([rule('read', '/b'), rule('write', '/a'), rule('read', '/a')], ['/a/*', '/a/*'])
    assert.equal(once.key, twice.key)
    assert.equal(rulesOf([rule('read', '/a')], [], 3).key, rulesOf([rule('read', '/a')]).key)
  })
})
