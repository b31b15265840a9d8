import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type PathUri, type PermissionEntry, pathUri } from '@waldo/protocol'
import { bindPolicy } from './bind-policy.ts'
import { accessTo, at, bind, FakeHost, type Given, glob, intentOf, roots, special } from './fixtures/fake-host.ts'
import type { HostFacts } from './host-facts.ts'
import { PolicyError } from './policy-error.ts'

const read = (path: PermissionEntry['path']) => ({ path, access: 'read' }) as const
const write = (path: PermissionEntry['path']) => ({ path, access: 'write' }) as const
const deny = (path: PermissionEntry['path']) => ({ path, access: 'deny' }) as const
const host = new FakeHost({ '/ws/sub': '/', '/tmp': '/' })

function refuses(kind: PolicyError['kind'], message: RegExp, given: Given, facts: HostFacts = host): void {
  assert.throws(
    () => bind(given, facts),
    (error: unknown) => error instanceof PolicyError && error.kind === kind && message.test(error.message),
  )
}

describe('a symbolic link that a command could change', () => {
  const linked = new FakeHost({
    '/ws/ro/link': '-> /data/x',
    '/ws/link': '-> /data/x',
    '/ws/loop': '-> loop',
    '/ws/dangling': '-> /data/nothing',
    '/data/x/y': 'text',
    '/data/.codex': '/',
    '/alias': '-> /ws',
    '/tmp': '/',
  })
  const refusesLink = (...entries: PermissionEntry[]) =>
    refuses('unenforceable', /reached through the symbolic link .* which a command could change/, { entries }, linked)

  test('is refused in the path of a grant, a restriction and a pattern', () => {
    refusesLink(write(at('/ws')), write(at('/ws/link')))
    refusesLink(write(at('/ws')), deny(at('/ws/link/y')))
    refusesLink(write(at('/ws')), read(at('/ws/link')))
    refusesLink(write(at('/ws')), deny(at('/ws/dangling')))
    refusesLink(write(at('/ws')), deny(at('/ws/loop')))
    refusesLink(write(at('/ws')), glob('/ws/link/*.env'))
    refusesLink(write(at('/ws')), glob('/ws/link'))
  })

  test('is refused also if the path to it goes through another one', () => {
    refusesLink(write(at('/ws')), deny(at('/alias/link/y')))
    refusesLink(write(at('/alias')), deny(at('/alias/link/y')))
  })

  test('names the link, and what may be written', () => {
    refuses(
      'unenforceable',
      /^\/ws\/link\/y is reached through the symbolic link \/ws\/link, .*`write \/ws`/,
      { entries: [write(at('/ws')), deny(at('/ws/link/y'))] },
      linked,
    )
  })

  test('is refused as the way to a temporary directory', () => {
    const swapped = new FakeHost({ '/ws/t': '-> /home/me/.ssh', '/home/me/.ssh': '/' }, { tmpdir: '/ws/t' })
    const entries = [write(roots()), write(special('tmpdir'))]
    refuses('unenforceable', /symbolic link \/ws\/t/, { entries, cwd: '/ws', roots: ['/ws'] }, swapped)
  })

  test('is refused in place of a protected name, which could not be protected', () => {
    for (const target of ['/ws/mine', '/home/me/.ssh', '/nowhere']) {
      const swapped = new FakeHost({ '/ws/.git': `-> ${target}`, '/ws/mine': '/', '/home/me/.ssh': '/' })
      const given = { cwd: '/ws', roots: ['/ws'] }
      refuses('unenforceable', /symbolic link \/ws\/\.git/, { entries: [write(roots())], ...given }, swapped)
      if (target === '/nowhere') continue
      const named = [write(roots()), write(roots('.git'))]
      refuses('unenforceable', /symbolic link \/ws\/\.git/, { entries: named, ...given }, swapped)
    }
  })

  test('is refused on the way to a repository that a .git file points to', () => {
    const pointing = new FakeHost({ '/ws/.git': 'gitdir: /ws/l/repo', '/ws/l': '-> /data', '/data/repo': '/' })
    refuses('unenforceable', /symbolic link \/ws\/l/, { entries: [write(at('/ws'))] }, pointing)
  })

  test('is no obstacle where nobody may write', () => {
    const entries = [write(at('/alias')), read(at('/ws/ro')), deny(at('/ws/ro/link/y'))]
    const policy = bind({ entries }, linked)
    assert.equal(accessTo(policy, '/ws/x'), 'write')
    assert.equal(accessTo(policy, '/data/x/y'), 'none')
    const readOnly = bind({ entries: [read(special('root')), deny(at('/ws/link/y'))] }, linked)
    assert.equal(accessTo(readOnly, '/data/x/y'), 'none')
  })

  test('is refused even if a pattern hides the directory that it is in', () => {
    refusesLink(write(at('/ws')), read(at('/data')), glob('/ws/r?'), deny(at('/ws/ro/link/y')))
  })
})

describe('what depends on directories that nobody has named', () => {
  test('is refused', () => {
    for (const entry of [write(roots()), deny(roots('x')), glob('*.env'), glob('codex-project-roots://*.env')]) {
      refuses('context', /dynamic permissions requires cwd/, { entries: [entry] })
      refuses('context', /dynamic permissions requires cwd/, { entries: [entry], roots: ['/ws'] })
    }
    assert.ok(bind({ entries: [write(special('slash_tmp')), glob('/ws/*')] }, host))
  })
})

describe('paths of another system', () => {
  const foreign = ['file:///C:/x', 'file://host/share', 'file:///a%2Fb'].map((text) => pathUri(text))
  const bound = (more: object) => () => bindPolicy({ ...intentOf({ entries: [] }), ...more }, host, { cwd: '/ws' })
  const isForeign = (pattern: RegExp) => (error: unknown) =>
    error instanceof PolicyError && error.kind === 'foreign' && pattern.test(error.message)

  test('are refused wherever they are, even if nothing is restricted', () => {
    for (const uri of foreign) {
      const entries: PermissionEntry[] = [read({ type: 'path', path: uri })]
      assert.throws(() => bind({ entries }, host), isForeign(/^invalid sandbox permission path URI: .* is invalid on/))
      assert.throws(bound({ cwd: uri }), isForeign(/^sandbox cwd URI `.*` is not valid on this exec-server host/))
      assert.throws(bound({ workspaceRoots: [uri] }), isForeign(/^sandbox workspace root URI/))
      assert.throws(bound({ temporaryDirectories: [uri] }), isForeign(/^sandbox temporary directory URI/))
      assert.throws(bound({ policyContext: { cwd: uri, workspaceRoots: [] } }), isForeign(/^sandbox cwd URI/))
      assert.throws(bound({ permissions: { type: 'disabled' }, cwd: uri }), isForeign(/^sandbox cwd URI/))
    }
  })

  test('and paths that are no text are refused too', () => {
    const path = pathUri('file:///a%FF')
    refuses('unenforceable', /only paths that are UTF-8 text/, { entries: [read({ type: 'path', path })] })
    assert.throws(bound({ cwd: path }), PolicyError)
  })
})

describe('profiles that nobody could enforce', () => {
  const uris = (count: number) => Array.from({ length: count }, (_, index) => `file:///r${index}` as PathUri)

  test('a subpath that leads out of its root', () => {
    for (const subpath of ['..', 'a/../..', '/etc', '../ws2', 'a\0b']) {
      const given = { entries: [write(roots(subpath))], cwd: '/ws', roots: ['/ws'] }
      refuses('unenforceable', /leads out of its root/, given)
    }
  })

  test('a path that is longer than any can be, without repeating it', () => {
    const long = '/a'.repeat(50_000)
    const refused = (given: Given) =>
      assert.throws(
        () => bind(given, host),
        (error: unknown) =>
          error instanceof PolicyError &&
          /longer than the 4096 characters/.test(error.message) &&
          error.message.length < 500,
      )
    refused({ entries: [deny(at(long))] })
    refused({ entries: [], cwd: long })
    refused({ entries: [], roots: [long] })
    refused({ entries: [write(roots(long.slice(1)))], cwd: '/ws', roots: ['/ws'] })
    refuses('unenforceable', /at most 4096/, { entries: [glob(long)] })
  })

  test('a pattern that would have to be looked for on the whole machine', () => {
    const toRoot = new FakeHost({ '/link': '-> /', '/ws': '/' })
    for (const pattern of ['/**/*.env', '/*.env', '/secret', '/link/*.env']) {
      refuses('unenforceable', /begin it with a directory/, { entries: [glob(pattern)] }, toRoot)
    }
  })

  test('a pattern that names nothing, and would deny everything', () => {
    for (const pattern of ['', '.', '/', './/', '..', 'codex-project-roots://', 'codex-project-roots:///']) {
      refuses('unenforceable', /names nothing/, { entries: [glob(pattern)], cwd: '/ws', roots: ['/ws'] })
    }
  })

  test('a denial in words that we do not know', () => {
    const path = { type: 'special', value: { kind: 'unknown', path: ':future' } } as const
    refuses('unenforceable', /denies ":future", which this executor does not know/, { entries: [deny(path)] })
  })

  test('more paths, patterns or roots than anybody writes down', () => {
    const many = (entry: PermissionEntry) => ({ entries: Array.from({ length: 1025 }, () => entry), cwd: '/ws' })
    refuses('unenforceable', /more than 1024 paths/, many(read(at('/ws'))))
    refuses('unenforceable', /more than 1024 paths/, many(write(at('/nowhere'))))
    refuses('unenforceable', /more than 1024 paths/, many(write(special('slash_tmp'))))
    refuses('unenforceable', /more than 1024 paths/, many(glob('/ws/*')))
    refuses('unenforceable', /more than 1024 paths/, {
      entries: Array.from({ length: 100 }, () => write(roots())),
      cwd: '/ws',
      roots: Array.from({ length: 20 }, (_, index) => `/r${index}`),
    })
    refuses('unenforceable', /more than 1024 paths/, {
      entries: Array.from({ length: 80 }, () => glob(`/ws/${'*x'.repeat(2000)}`)),
    })
    for (const more of [{ workspaceRoots: uris(257) }, { temporaryDirectories: uris(257) }]) {
      const intent = { ...intentOf({ entries: [] }), ...more }
      assert.throws(() => bindPolicy(intent, host, { cwd: undefined }), /more than 256 workspace roots/)
    }
  })

  test('a thousand entries with links are looked at once each, not once for each other', () => {
    let looks = 0
    const tree = new FakeHost({ '/ws/ro/link': '-> /ws/x', '/ws/x': '/', '/ws/ro': '/' })
    const counting: HostFacts = {
      platformDirectories: [],
      temporaryDirectory: undefined,
      resolve: (path) => {
        looks++
        return tree.resolve(path)
      },
      gitDirectories: () => [],
    }
    const writes = Array.from({ length: 500 }, () => write(at('/ws')))
    const reads = Array.from({ length: 500 }, () => read(at('/ws/ro/link')))
    bind({ entries: [...writes, ...reads, read(at('/ws/ro'))] }, counting)
    assert.ok(looks < 2000, `${looks} looks`)
  })
})
