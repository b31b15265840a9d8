import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Access, PermissionEntry } from '@waldo/protocol'
import fc from 'fast-check'
import type { Policy } from '../policy/bind-policy.ts'
import { accessTo, at, bind, glob, roots, special } from '../policy/fixtures/fake-host.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { between, isBelow, isWithin, parentOf } from '../policy/posix-path.ts'
import type { ThisHost } from '../this-host.ts'
import { anyTree, type Outcome, TestTree, type Tree, type Tried } from './fixtures/tree.ts'

const RUNS = 25
const THERE = ['a', 'a/b', 'a/b/f', 'a/f', 'a/.git', 'a/.codex', 'c', 'c/d', 'c/d/f', 'c/f', 'e', 'e/f', 'l', 'l/f']
const MISSING = ['a/no/deep', 'c/no', 'e/no/deep/er', 'a/.codex/x', 'c/.git', 'e/.agents/x', 'a/b/new', 'c/d/new']

const anyProfile = fc.record({
  base: fc.constantFrom('read', 'minimal', 'minimal', 'write'),
  entries: fc.array(
    fc.tuple(fc.constantFrom<Access>('read', 'write', 'deny'), fc.constantFrom(...THERE, ...MISSING, 'a/no', 'c/f/no')),
    { maxLength: 6 },
  ),
  workspaces: fc.subarray(['a', 'c', 'l', 'e'], { maxLength: 2 }),
  pattern: fc.option(fc.constantFrom('**/*.env', 'a/**/f', 'c/d*', '**/.git'), { nil: undefined }),
})
type Profile = typeof anyProfile extends fc.Arbitrary<infer T> ? T : never

function entriesOf(root: string, { base, entries, pattern }: Profile): PermissionEntry[] {
  return [
    { path: special(base === 'minimal' ? base : 'root'), access: base === 'write' ? 'write' : 'read' },
    { path: roots(), access: 'write' },
    ...entries.map(([access, path]) => ({ path: at(join(root, path)), access })),
    ...(pattern === undefined ? [] : [glob(join(root, pattern))]),
  ]
}

/** What rules say of a tree, to be compared with what could be done to it. */
class Expectation {
  readonly tried: Tried
  readonly #root: string
  readonly #before: Tree
  readonly #policy: Policy
  readonly #facts: ThisHost
  /** What a pattern means that matches a link is what that leads to; what is in there has rules of its own, or none. */
  readonly #meant: readonly string[]

  constructor({ root, before, policy, facts }: { root: string; before: Tree; policy: Policy; facts: ThisHost }) {
    this.#root = root
    this.#before = before
    this.#policy = policy
    this.#facts = facts
    const links = Object.keys(before).filter((path) => before[path]!.startsWith('-> '))
    this.#meant = links.filter((link) => this.#isMatched(link)).map((link) => facts.resolve(link).path)
    const resolve = (name: string) => ({ given: join(root, name), ...facts.resolve(join(root, name)) })
    this.tried = {
      there: Object.keys(before).filter((path) => !links.includes(path)),
      through: THERE.map(resolve).flatMap(({ given, exists, links }) => (exists && links.length > 0 ? [given] : [])),
      missing: MISSING.map(resolve).flatMap(({ given, exists, links }) => (exists || links.length > 0 ? [] : [given])),
    }
  }

  check(outcome: Outcome, named: readonly string[]): void {
    for (const path of this.tried.there) this.#checkPath(path, outcome)
    for (const path of this.tried.through) this.#checkThroughLinks(path, outcome, named)
    for (const path of this.tried.missing) this.#checkMissing(path, outcome)
    for (const path of outcome.moved) {
      const all = [...this.tried.there, ...this.#rules.map((rule) => rule.path)]
      for (const each of [parentOf(path), path, ...all.filter((other) => isBelow(path, other))]) {
        assert.equal(this.#access(each), 'write', `${path} is moved, with ${each}`)
      }
    }
  }

  /** What is there afterwards. */
  after({ changed, made }: Outcome): Tree {
    const after = { ...this.#before }
    for (const path of changed) after[this.#facts.resolve(path).path] += '+'
    for (const path of made) {
      for (const directory of between(this.#root, path)) after[directory] ??= '/'
      after[path] = '+'
    }
    return after
  }

  #checkPath(path: string, { seen, changed }: Outcome): void {
    const what = seen[path]!
    const isText = this.#before[path] !== '/'
    if (this.#access(path) === 'none' || this.#isMeant(path)) {
      if (this.#meant.includes(path)) assert.notEqual(typeof what, 'string', `${path} is seen`)
      const shown = Array.isArray(what) ? what.map((name) => join(path, name)) : what === false ? [] : [path]
      for (const each of shown) assert.ok(this.#isOnTheWay(each), `${each} is seen`)
    } else if (isText) assert.equal(what, this.#before[path], path)
    else {
      assert.ok(Array.isArray(what), `${path} is not seen`)
      const all = this.tried.there.filter((each) => parentOf(each) === path).map((each) => each.slice(path.length + 1))
      assert.deepEqual(
        all.filter((name) => !what.includes(name)),
        [],
        `not seen in ${path}`,
      )
    }
    const mayChange = isText && this.#access(path) === 'write'
    if (!this.#isMeant(path) || !mayChange) assert.equal(changed.includes(path), mayChange, `${path} is changed`)
  }

  /** A link may be hidden; but what is named by it has to be found by it. */
  #checkThroughLinks(given: string, { seen, changed }: Outcome, named: readonly string[]): void {
    const { path, links } = this.#facts.resolve(given)
    const access = this.#access(path)
    if (access === 'none') assert.notEqual(typeof seen[given], 'string', `${given} is seen`)
    if (changed.includes(given)) assert.equal(access, 'write', `${given} is changed`)
    const isDenied = (link: string) => this.#access(link) === 'none' && this.#policy.files!.decide(link).explicit
    if (!named.includes(given) || access === 'none' || this.#isMeant(path) || links.some(isDenied)) return
    assert.notEqual(seen[given], false, `${given} is not seen`)
  }

  #checkMissing(path: string, { made }: Outcome): void {
    const first = this.#firstMissing(path)
    // What a pattern would match is only hidden where it is found.
    if (this.#isMeant(path) || (this.#isMatched(path) && !this.#isMatched(parentOf(first)))) return
    const kept = this.#rules.filter((rule) => !rule.exists && this.#access(rule.path) !== 'write')
    const occupied = kept.map((rule) => this.#firstMissing(rule.path))
    const all = [...between(parentOf(first), path), path]
    const may = all.every((each) => this.#access(each) === 'write' && !occupied.includes(each))
    assert.equal(made.includes(path), may, `${path} is made`)
  }

  get #rules() {
    return this.#policy.files?.rules ?? []
  }

  #access(path: string) {
    return accessTo(this.#policy, path)
  }

  #isMatched(path: string): boolean {
    return this.#policy.files?.globs.some((each) => each.matches(path)) ?? false
  }

  #isMeant(path: string): boolean {
    return this.#meant.some((each) => isWithin(each, path))
  }

  /** To something that has a rule of its own, or in it. */
  #isOnTheWay(path: string): boolean {
    const shown = this.#rules.filter(({ access }) => access !== 'deny')
    const isInside = (rule: string) => isWithin(rule, path) && this.#meant.some((each) => isBelow(each, rule))
    return shown.some((rule) => isInside(rule.path) || [rule.path, ...rule.links].some((each) => isWithin(path, each)))
  }

  #firstMissing(path: string): string {
    return [...between(this.#root, path), path].find((each) => !(each in this.#before))!
  }
}

/** False if there is no way to enforce the profile. */
async function compare(tree: Tree, profile: Profile): Promise<boolean> {
  using trial = new TestTree(tree)
  const { root } = trial
  const before = trial.look()
  const facts = trial.sandbox.lookAround()
  const workspaces = profile.workspaces.map((name) => join(root, name))
  let policy: Policy
  try {
    policy = bind({ entries: entriesOf(root, profile), cwd: root, roots: workspaces }, facts)
  } catch (error) {
    assert.ok(error instanceof PolicyError)
    return false
  }
  const expected = new Expectation({ root, before, policy, facts })
  const outcome = await trial.try(policy, facts, expected.tried)
  const granted = profile.entries.filter(([access]) => access !== 'deny')
  expected.check(
    outcome,
    granted.map(([, name]) => join(root, name)),
  )
  assert.deepEqual(trial.look(), expected.after(outcome))
  return true
}

describe('a command in a sandbox', () => {
  test('can do what the rules say, and nothing else', async () => {
    let refused = 0
    const property = fc.asyncProperty(anyTree, anyProfile, async (tree, profile) => {
      if (!(await compare(tree, profile))) refused++
    })
    await fc.assert(property, { numRuns: RUNS })
    assert.ok(refused < RUNS / 2, `${refused} of ${RUNS} profiles were refused`)
  })
})
