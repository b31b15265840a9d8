import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Access, PermissionEntry } from '@waldo/protocol'
import fc from 'fast-check'
import type { Policy } from '../policy/bind-policy.ts'
import { DenyGlob, literal } from '../policy/deny-glob.ts'
import { FileRules } from '../policy/file-rules.ts'
import { at, bind, FakeHost, glob, roots, special } from '../policy/fixtures/fake-host.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { MACOS_PLATFORM_DIRECTORIES } from './base-profile.ts'
import { SeatbeltModel } from './seatbelt-model.ts'
import { type SeatbeltOptions, seatbeltProfile } from './seatbelt-profile.ts'

const TREE = {
  '/Users/me/ws/.git/config': 'text',
  '/Users/me/ws/sub/prot/f': 'text',
  '/Users/me/ws/secret/key': 'text',
  '/Users/me/ws/list.txt': 'text',
  '/private/tmp': '/',
  '/tmp': '-> private/tmp',
  '/usr/lib': '/',
  '/bin': '/',
  '/System': '/',
}
const host = new FakeHost(TREE, { platform: MACOS_PLATFORM_DIRECTORIES })
const policyOf = (entries: readonly PermissionEntry[]) =>
  bind({ entries, cwd: '/Users/me/ws', roots: ['/Users/me/ws'] }, host)
const build = (policy: Policy, more: Partial<SeatbeltOptions> = {}) =>
  seatbeltProfile(policy, { tag: 'waldo-1', ...more })
const model = (entries: readonly PermissionEntry[]) => new SeatbeltModel(build(policyOf(entries)))

const readRoot: PermissionEntry = { path: special('root'), access: 'read' }
const writeRoots: PermissionEntry = { path: roots(), access: 'write' }
const writeTmp: PermissionEntry = { path: special('slash_tmp'), access: 'write' }
const minimal: PermissionEntry = { path: special('minimal'), access: 'read' }
const denies = (path: string): PermissionEntry => ({ path: at(path), access: 'deny' })
const PROFILES: Readonly<Record<string, readonly PermissionEntry[]>> = {
  'read-only': [readRoot],
  workspace: [readRoot, writeRoots, writeTmp],
  minimal: [minimal, writeRoots],
  carved: [
    readRoot,
    writeRoots,
    denies('/Users/me/ws/secret'),
    { path: at('/Users/me/ws/sub/prot'), access: 'read' },
    glob('codex-project-roots://**/*.env'),
  ],
}

describe('a Seatbelt profile', () => {
  for (const [name, entries] of Object.entries(PROFILES)) {
    test(`of the kind "${name}" has the text that we have looked at`, () => {
      const golden = readFileSync(join(import.meta.dirname, 'golden', `${name}.sb`), 'utf8')
      const { profile, parameters } = build(policyOf(entries))
      const listed = Object.entries(parameters).map(([key, value]) => `; ${key} = ${value}\n`)
      assert.equal(`${listed.join('')}${profile}`, golden)
    })
  }

  test('denies by default, with a tag that the log repeats', () => {
    assert.match(build(policyOf([])).profile, /^\(version 1\)\n\(deny default \(with message "waldo-1"\)\)\n/)
    for (const tag of ['', 'a"b', 'a b', 'a)', 'ü', 'x'.repeat(65)]) {
      assert.throws(() => build(policyOf([]), { tag }), PolicyError)
    }
  })

  test('lets files be read and written where the policy does', () => {
    const workspace = model(PROFILES.workspace!)
    const decide = (path: string) => ['file-read-data', 'file-write-data'].map((each) => workspace.allows(each, path))
    assert.deepEqual(decide('/Users/me/ws/x'), [true, true])
    assert.deepEqual(decide('/private/tmp/x'), [true, true])
    assert.deepEqual(decide('/Users/me/x'), [true, false])
    assert.deepEqual(decide('/Users/me/ws/.git/config'), [true, false])
    assert.deepEqual(decide('/Users/me/ws/sub/.git/config'), [true, true])
  })

  test('protects names in whatever case, and before they exist', () => {
    const workspace = model(PROFILES.workspace!)
    for (const name of ['.git', '.GIT', '.Git', '.codex', '.CODEX/x', '.waldo/a\nb', '.git\n/x']) {
      const isSame = name !== '.git\n/x'
      assert.equal(workspace.allows('file-write-create', `/Users/me/ws/${name}`), !isSame, name)
    }
    for (const name of ['.gitignore', 'xgit', 'a.git', '.gi']) {
      assert.ok(workspace.allows('file-write-create', `/Users/me/ws/${name}`), name)
    }
  })

  test('keeps in place what rules lead to, and what the next command will be given', () => {
    const carved = model(PROFILES.carved!)
    const canMove = (path: string) => carved.allows('file-write-unlink', path, 'DIRECTORY')
    assert.ok(!canMove('/Users/me/ws'))
    assert.ok(!canMove('/Users/me/ws/sub'))
    assert.ok(!canMove('/Users/me/ws/sub/prot'))
    assert.ok(!canMove('/Users/me/ws/any/directory'))
    assert.ok(carved.allows('file-write-unlink', '/Users/me/ws/any/file'))
    assert.ok(carved.allows('file-write-create', '/Users/me/ws/sub/new'))
    const workspace = model(PROFILES.workspace!)
    assert.ok(workspace.allows('file-write-unlink', '/Users/me/ws/any/directory', 'DIRECTORY'))
    const file = model([readRoot, { path: at('/Users/me/ws/list.txt'), access: 'write' }])
    assert.ok(file.allows('file-write-data', '/Users/me/ws/list.txt'))
    assert.ok(!file.allows('file-write-unlink', '/Users/me/ws/list.txt'))
    assert.ok(!file.allows('file-write-create', '/Users/me/ws/list.txt/x'))
  })

  test('has patterns that match names beyond ASCII, be they bytes or characters', () => {
    const profile = build(
      policyOf([readRoot, glob('/Users/me/?.env'), glob('/Users/me/[!a].key'), glob('/Users/me/*.pem')]),
    )
    for (const units of ['bytes', 'characters'] as const) {
      const seatbelt = new SeatbeltModel(profile, units)
      for (const denied of ['b.env', 'ü.env', '😀.env', 'ü.key', 'b.key', 'ü.pem', '.pem', 'b.env/x']) {
        assert.ok(!seatbelt.allows('file-read-data', `/Users/me/${denied}`), `${units}: ${denied}`)
      }
      for (const allowed of ['.env', 'bb.env', 'a.key', 'x.env2', 'b/b.env']) {
        assert.ok(seatbelt.allows('file-read-data', `/Users/me/${allowed}`), `${units}: ${allowed}`)
      }
    }
  })

  test('lets the way to a directory be looked at, and nothing be read there', () => {
    const hidden = model([minimal, writeRoots])
    for (const path of ['/Users', '/Users/me']) {
      assert.ok(hidden.allows('file-read-metadata', path), path)
      assert.ok(!hidden.allows('file-read-data', path), path)
    }
    assert.ok(!hidden.allows('file-read-metadata', '/Users/you'))
    assert.ok(!hidden.allows('file-read-data', '/private/tmp/x'))
    assert.ok(!hidden.allows('file-write-data', '/private/tmp/x'))
  })

  test('lets nothing be run that cannot be read', () => {
    const hidden = model([minimal, denies('/usr/lib')])
    assert.ok(hidden.allows('process-exec', '/bin/sh'))
    for (const operation of ['process-exec', 'file-map-executable']) {
      assert.ok(!hidden.allows(operation, '/Users/me/tool'))
      assert.ok(!hidden.allows(operation, '/usr/lib/tool'))
    }
  })

  test('leaves the devices alone that every program uses', () => {
    for (const entries of [[], [readRoot], [minimal]]) {
      const profile = model(entries)
      assert.ok(profile.allows('file-write-data', '/dev/null'))
      assert.ok(profile.allows('file-read-data', '/dev/urandom'))
      assert.ok(!profile.allows('file-write-data', '/dev/disk0'))
      assert.ok(!profile.allows('file-write-unlink', '/dev/null'))
    }
  })

  test('without restrictions of files allows them all', () => {
    const free = new SeatbeltModel(build({ files: undefined, network: 'restricted', skipped: [] }))
    for (const operation of ['file-read-data', 'file-write-unlink', 'process-exec']) {
      assert.ok(free.allows(operation, '/Users/you/x'), operation)
    }
  })

  test('reads preferences only where everything can be read', () => {
    const asks = /user-preference-read/
    assert.match(build(policyOf([readRoot])).profile, asks)
    assert.doesNotMatch(build(policyOf([readRoot, denies('/Users/me/ws/secret')])).profile, asks)
    assert.doesNotMatch(build(policyOf([minimal])).profile, asks)
  })
})

describe('the network in a Seatbelt profile', () => {
  const restricted = policyOf([readRoot])
  const enabled = { ...restricted, network: 'enabled' as const }
  const network = (policy: Policy, proxyPorts?: readonly number[]) =>
    build(policy, proxyPorts && { proxyPorts }).profile.match(/\(allow (?:network|system-socket).*\)/g)

  test('is nothing, everything, or the ports of a proxy', () => {
    assert.equal(network(restricted), null)
    assert.deepEqual(network(enabled), ['(allow network*)', '(allow system-socket)'])
    const ports = [
      '(allow network-outbound (remote ip "localhost:3128"))',
      '(allow network-outbound (remote ip "localhost:1080"))',
    ]
    assert.deepEqual(network(restricted, [3128, 1080]), ports)
    assert.deepEqual(network(enabled, [3128, 1080]), ports)
    assert.equal(network(enabled, []), null)
  })

  test('takes no port that is none', () => {
    for (const port of [0, -1, 65_536, 1.5, Number.NaN]) {
      assert.throws(() => build(restricted, { proxyPorts: [port] }), PolicyError)
    }
  })
})

describe('what Seatbelt cannot say', () => {
  const unenforceable = (message: RegExp) => (error: unknown) =>
    error instanceof PolicyError && error.kind === 'unenforceable' && message.test(error.message)

  test('is refused: patterns beyond ASCII', () => {
    for (const pattern of ['/Users/me/*ü', '/Users/me/[ü]', '/Users/me/[a-ü]', '/Users/me/*/ü', '/Users/me/*\n']) {
      assert.throws(() => build(policyOf([readRoot, glob(pattern)])), unenforceable(/ASCII/), pattern)
    }
    assert.ok(build(policyOf([readRoot, glob('/Users/jörg/*.env')])))
  })

  test('is refused: more than fits on a command line', () => {
    const entries = Array.from({ length: 500 }, (_, index) => denies(`/${'x'.repeat(1000)}${index}`))
    assert.throws(() => build(policyOf(entries)), unenforceable(/too large for macOS/))
  })
})

describe('any policy as a Seatbelt profile', () => {
  const HOSTILE = [
    'a',
    'b',
    '.git',
    'x.env',
    'ü',
    'a"b',
    '")(allow default)("',
    '\\',
    '$(x)',
    '^.*$',
    '[a]',
    '{1}',
    'a\nb',
    ';',
  ]
  const name = fc.constantFrom(...HOSTILE)
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `/${names.join('/')}`)
  const piece = fc.constantFrom(
    '*',
    '?',
    '[ab]',
    '[!ab]',
    '[+-9]',
    '[!"]',
    'a',
    'b',
    '.',
    '"',
    '\\[',
    '\\{',
    '$',
    '^',
    '(',
    ')',
    '|',
    '+',
    ';',
  )
  const step = fc.oneof(
    { weight: 1, arbitrary: fc.constant('**') },
    { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join('')) },
  )
  const pattern = fc
    .tuple(path, fc.array(step, { minLength: 1, maxLength: 3 }))
    .filter(([, steps]) => steps.every((each) => !/^\.{1,2}$/.test(each)))
    .map(([directory, steps]) => `${literal(directory)}/${steps.join('/')}`)
  const anyRule = fc.record({
    path,
    access: fc.constantFrom<Access>('read', 'write', 'deny'),
    isDirectory: fc.boolean(),
    protects: fc.subarray(['.git', '.codex']),
  })

  function policyFrom(
    rules: readonly (typeof anyRule extends fc.Arbitrary<infer T> ? T : never)[],
    patterns: string[],
  ) {
    const isAbove = (file: string) => rules.some((other) => other.path.startsWith(`${file}/`))
    const files = new FileRules({
      rules: rules.map(({ path, access, isDirectory, protects }) => ({
        path,
        access,
        origin: path,
        exists: true,
        isDirectory: isDirectory || isAbove(path),
        links: [],
        protects: access === 'write' ? protects : [],
      })),
      globs: patterns.flatMap((each) => DenyGlob.parse(each)),
      globDepth: undefined,
    })
    return { files, network: 'restricted' as const, skipped: [] }
  }

  test('allows nothing that the policy denies, and denies only what it cannot tell apart', () => {
    let [compared, same] = [0, 0]
    fc.assert(
      fc.property(
        fc.array(anyRule, { maxLength: 5 }),
        fc.array(pattern, { maxLength: 2 }),
        fc.array(path, { minLength: 3, maxLength: 8 }),
        (rules, patterns, paths) => {
          const policy = policyFrom(rules, patterns)
          const profile = build(policy)
          const isFile = (each: string) =>
            policy.files.rules.some((rule) => !rule.isDirectory && each.startsWith(`${rule.path}/`))
          for (const units of ['characters', 'bytes'] as const) {
            const seatbelt = new SeatbeltModel(profile, units)
            for (const each of paths) {
              // There is nothing below a file.
              if (isFile(each)) continue
              const { access } = policy.files.decide(each)
              const [reads, writes] = ['file-read-data', 'file-write-data'].map((op) => seatbelt.allows(op, each))
              assert.ok(!reads || access !== 'none', `${units}: ${each} can be read`)
              assert.ok(!writes || access === 'write', `${units}: ${each} can be written`)
              compared++
              if (reads === (access !== 'none') && writes === (access === 'write')) same++
              else assert.ok(patterns.length > 0, `${units}: ${each} is denied without a pattern`)
            }
          }
        },
      ),
      { numRuns: 2000 },
    )
    assert.ok(same / compared > 0.97, `${same} of ${compared}`)
  })

  test('has its paths as parameters, and none in its text', () => {
    fc.assert(
      fc.property(fc.array(anyRule, { minLength: 1, maxLength: 5 }), (rules) => {
        const { profile, parameters } = build(policyFrom(rules, []))
        assert.ok(rules.every((rule) => Object.values(parameters).includes(rule.path)))
        assert.doesNotMatch(profile, /allow default|\$\(x\)|ü/)
        assert.match(profile, /^[\n -~]*$/)
      }),
    )
  })
})
