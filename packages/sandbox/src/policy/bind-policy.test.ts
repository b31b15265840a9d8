import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { PermissionEntry } from '@waldo/protocol'
import { bindPolicy } from './bind-policy.ts'
import { accessTo, at, bind, FakeHost, glob, intentOf, roots, special } from './fixtures/fake-host.ts'
import { PROTECTED_NAMES } from './protected-names.ts'

const host = new FakeHost(
  {
    '/ws/src/main.c': 'text',
    '/ws/.git/config': 'text',
    '/ws/file': 'text',
    '/two/x': 'text',
    '/etc/passwd': 'text',
    '/usr/bin/sh': 'text',
    '/usr/lib/libc': 'text',
    '/bin': '-> usr/bin',
    '/tmp/other': 'text',
    '/var/tmp': '/',
    '/home/me/work': '-> /ws',
    '/home/me/.codex/.git': '/',
  },
  { tmpdir: '/var/tmp', platform: ['/usr', '/bin', '/etc', '/nix/store'] },
)
const inWorkspace = { cwd: '/ws', roots: ['/ws'] }
const read = (path: ReturnType<typeof at>) => ({ path, access: 'read' }) as const
const write = (path: ReturnType<typeof at>) => ({ path, access: 'write' }) as const
const deny = (path: ReturnType<typeof at>) => ({ path, access: 'deny' }) as const

describe('profiles that restrict no files', () => {
  const network = (permissions: Parameters<typeof intentOf>[0]['permissions']) => {
    const policy = bind({ entries: [], ...(permissions && { permissions }) }, host)
    return { files: policy.files, network: policy.network }
  }

  test('still say what becomes of the network', () => {
    assert.deepEqual(network({ type: 'disabled' }), { files: undefined, network: 'enabled' })
    assert.deepEqual(network({ type: 'external', network: 'restricted' }), { files: undefined, network: 'restricted' })
    assert.deepEqual(network({ type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' }), {
      files: undefined,
      network: 'restricted',
    })
  })

  test('are also those that may write everywhere, with nothing that takes it back', () => {
    assert.equal(bind({ entries: [write(special('root'))] }, host).files, undefined)
    assert.equal(bind({ entries: [read(special('root')), write(at('/'))] }, host).files, undefined)
    assert.equal(bind({ entries: [write(special('root')), write(roots())], ...inWorkspace }, host).files, undefined)
    assert.ok(bind({ entries: [write(special('root')), read(at('/etc'))] }, host).files)
    assert.ok(bind({ entries: [write(special('root')), glob('/ws/*.env')] }, host).files)
  })

  test('a linked worktree does not take back what may be written everywhere', () => {
    const worktree = new FakeHost({ '/ws/.git': 'gitdir: /repo/wt', '/repo/wt': '/' })
    assert.equal(bind({ entries: [write(special('root')), write(roots())], ...inWorkspace }, worktree).files, undefined)
  })
})

describe('paths of a profile', () => {
  test('nothing is readable of which nothing is said', () => {
    const policy = bind({ entries: [] }, host)
    assert.equal(accessTo(policy, '/'), 'none')
    assert.equal(accessTo(policy, '/etc/passwd'), 'none')
  })

  test('root is the root', () => {
    const policy = bind({ entries: [read(special('root')), deny(at('/etc'))] }, host)
    assert.equal(accessTo(policy, '/'), 'read')
    assert.equal(accessTo(policy, '/usr/bin/sh'), 'read')
    assert.equal(accessTo(policy, '/etc/passwd'), 'none')
  })

  test('the project roots are all workspace roots, and not the working directory', () => {
    const policy = bind({ entries: [write(roots())], cwd: '/etc', roots: ['/ws', '/two'] }, host)
    assert.equal(accessTo(policy, '/ws/src'), 'write')
    assert.equal(accessTo(policy, '/two/x'), 'write')
    assert.equal(accessTo(policy, '/etc'), 'none')
  })

  test('the project roots are nothing if there are none', () => {
    const policy = bind({ entries: [read(special('root')), write(roots()), deny(roots('src'))], cwd: '/ws' }, host)
    assert.equal(accessTo(policy, '/ws/src'), 'read')
  })

  test('a subpath is below each root', () => {
    const entries = [read(roots()), write(roots('src')), deny(roots('./a/../x'))]
    const policy = bind({ entries, cwd: '/ws', roots: ['/ws', '/two'] }, host)
    assert.equal(accessTo(policy, '/ws/src/main.c'), 'write')
    assert.equal(accessTo(policy, '/ws/file'), 'read')
    assert.equal(accessTo(policy, '/two/x'), 'none')
    assert.deepEqual(policy.skipped, ['write /two/src'])
  })

  test('roots and working directory come from the policy context if the intent has none', () => {
    const { cwd, workspaceRoots } = intentOf({ entries: [], ...inWorkspace })
    const policyContext = { cwd, workspaceRoots }
    assert.equal(accessTo(bind({ entries: [write(roots())], policyContext }, host), '/ws/src'), 'write')
    const other = bind({ entries: [write(roots())], policyContext, cwd: '/two', roots: ['/two'] }, host)
    assert.equal(accessTo(other, '/ws/src'), 'none')
    assert.equal(accessTo(other, '/two'), 'write')
  })

  test('tmpdir is what the intent says, or else the TMPDIR of the executor', () => {
    const own = bind({ entries: [write(special('tmpdir'))] }, host)
    assert.equal(accessTo(own, '/var/tmp/x'), 'write')
    const theirs = bind({ entries: [write(special('tmpdir'))], temporaries: ['/tmp', '/two'] }, host)
    assert.equal(accessTo(theirs, '/tmp/x'), 'write')
    assert.equal(accessTo(theirs, '/two/y'), 'write')
    assert.equal(accessTo(theirs, '/var/tmp/x'), 'none')
    const none = bind({ entries: [write(special('tmpdir'))], temporaries: [] }, host)
    assert.equal(accessTo(none, '/var/tmp/x'), 'none')
  })

  test('tmpdir is nothing if TMPDIR is not an absolute path of a directory', () => {
    for (const tmpdir of ['tmp', '/ws/file', '/nowhere']) {
      const policy = bind({ entries: [write(special('tmpdir'))] }, new FakeHost({ '/ws/file': 'text' }, { tmpdir }))
      assert.equal(policy.files?.rules.length, 0, tmpdir)
    }
  })

  test('slash_tmp is /tmp if that is a directory', () => {
    assert.equal(accessTo(bind({ entries: [write(special('slash_tmp'))] }, host), '/tmp/other'), 'write')
    const without = bind({ entries: [write(special('slash_tmp'))] }, new FakeHost({ '/tmp': 'text' }))
    assert.equal(accessTo(without, '/tmp'), 'none')
    assert.deepEqual(without.skipped, ['write /tmp'])
  })

  test('minimal is what programs need, to be read at most', () => {
    for (const access of ['read', 'write'] as const) {
      const policy = bind({ entries: [{ path: special('minimal'), access }] }, host)
      assert.equal(accessTo(policy, '/usr/lib/libc'), 'read')
      assert.equal(accessTo(policy, '/etc/passwd'), 'read')
      assert.equal(accessTo(policy, '/ws'), 'none')
      assert.equal(accessTo(policy, '/nix/store'), 'none')
    }
    const denied = bind({ entries: [read(special('root')), deny(special('minimal'))] }, host)
    assert.equal(accessTo(denied, '/usr/bin/sh'), 'none')
    assert.equal(accessTo(denied, '/ws'), 'read')
  })

  test('minimal gives nothing that an entry takes, and takes nothing that an entry gives', () => {
    const said = bind({ entries: [read(special('minimal')), deny(at('/usr')), write(at('/etc'))] }, host)
    assert.equal(accessTo(said, '/usr/bin/sh'), 'none')
    assert.equal(accessTo(said, '/etc/passwd'), 'write')
    const nothingElse = bind({ entries: [deny(special('root')), read(special('minimal'))] }, host)
    assert.equal(accessTo(nothingElse, '/usr/bin/sh'), 'read')
    assert.equal(accessTo(nothingElse, '/ws'), 'none')
    const almostAll = bind({ entries: [write(special('root')), deny(at('/ws')), read(special('minimal'))] }, host)
    assert.equal(accessTo(almostAll, '/usr/bin/sh'), 'write')
  })

  test('a word of a newer peer grants nothing', () => {
    const unknown = { type: 'special', value: { kind: 'unknown', path: ':future' } } as const
    const policy = bind({ entries: [read(at('/ws')), write(unknown)] }, host)
    assert.deepEqual(policy.skipped, ['unknown :future'])
    assert.equal(accessTo(policy, '/ws'), 'read')
  })

  test('the most specific entry wins, in whatever order they come', () => {
    const entries = [read(special('root')), write(at('/ws')), deny(at('/ws/src')), read(at('/ws/src/main.c'))]
    for (const order of [entries, entries.toReversed()]) {
      const policy = bind({ entries: order }, host)
      assert.equal(accessTo(policy, '/ws/file'), 'write')
      assert.equal(accessTo(policy, '/ws/src/x'), 'none')
      assert.equal(accessTo(policy, '/ws/src/main.c'), 'read')
    }
  })

  test('on a tie deny beats write and write beats read, however the path is spelled', () => {
    const policy = bind(
      { entries: [write(at('/ws')), read(at('/home/me/work')), read(at('/two')), deny(at('/two'))] },
      host,
    )
    assert.equal(accessTo(policy, '/ws'), 'write')
    assert.equal(accessTo(policy, '/two'), 'none')
  })
})

describe('paths that are missing', () => {
  test('cannot be granted for writing, and are reported', () => {
    const policy = bind({ entries: [read(special('root')), write(at('/nowhere'))] }, host)
    assert.equal(accessTo(policy, '/nowhere'), 'read')
    assert.deepEqual(policy.skipped, ['write /nowhere'])
  })

  test('are denied and read-only all the same, so that nobody makes them', () => {
    const policy = bind({ entries: [write(at('/ws')), deny(at('/ws/a/b')), read(at('/ws/c'))] }, host)
    assert.equal(accessTo(policy, '/ws/a/b/x'), 'none')
    assert.equal(accessTo(policy, '/ws/c'), 'read')
    assert.deepEqual(
      policy.files?.rules.map(({ path, exists }) => [path, exists]),
      [
        ['/ws', true],
        ['/ws/c', false],
        ['/ws/a/b', false],
      ],
    )
  })

  test('say nothing if their entry says so', () => {
    const skip = { missing_path_behavior: 'skip' } as const
    const entries = [write(at('/ws')), { ...deny(at('/ws/a')), ...skip }, { ...read(at('/ws/src')), ...skip }]
    const policy = bind({ entries }, host)
    assert.equal(accessTo(policy, '/ws/a'), 'write')
    assert.equal(accessTo(policy, '/ws/src'), 'read')
    assert.deepEqual(policy.skipped, ['deny /ws/a'])
  })
})

describe('protected names', () => {
  const workspace = { entries: [read(special('root')), write(roots())], ...inWorkspace }

  test('below a workspace root are only to be read, whether they are there or not', () => {
    const policy = bind(workspace, host)
    for (const name of PROTECTED_NAMES) assert.equal(accessTo(policy, `/ws/${name}/x`), 'read', name)
    assert.equal(accessTo(policy, '/ws/src/.git/config'), 'write')
  })

  test('can be written to if an entry names them, or something in them', () => {
    const whole = bind({ ...workspace, entries: [...workspace.entries, write(roots('.git'))] }, host)
    assert.equal(accessTo(whole, '/ws/.git/config'), 'write')
    assert.equal(accessTo(whole, '/ws/.codex'), 'read')
    const part = bind({ ...workspace, entries: [...workspace.entries, write(at('/ws/.git/config'))] }, host)
    assert.equal(accessTo(part, '/ws/.git/config'), 'write')
    assert.equal(accessTo(part, '/ws/.git/hooks'), 'read')
  })

  test('stay protected by the entries that clients add for them', () => {
    const entries = PROTECTED_NAMES.map((name) => ({ ...read(roots(name)), missing_path_behavior: 'skip' as const }))
    const policy = bind({ ...workspace, entries: [...workspace.entries, ...entries] }, host)
    for (const name of PROTECTED_NAMES) assert.equal(accessTo(policy, `/ws/${name}`), 'read', name)
  })

  test('below an entry that names such a directory are not protected, unless it is a workspace', () => {
    const named = bind({ entries: [write(at('/home/me/.codex'))] }, host)
    assert.equal(accessTo(named, '/home/me/.codex/.git'), 'write')
    const worked = bind({ entries: [write(roots())], cwd: '/home/me/.codex', roots: ['/home/me/.codex'] }, host)
    assert.equal(accessTo(worked, '/home/me/.codex/.git'), 'read')
    assert.equal(accessTo(worked, '/home/me/.codex/config'), 'write')
  })

  test('in a temporary directory are protected if somebody has put something there', () => {
    const shared = new FakeHost({ '/tmp/.git/config': 'text', '/tmp/.aws': '-> /etc', '/etc': '/' })
    const policy = bind({ entries: [write(special('slash_tmp'))] }, shared)
    assert.equal(accessTo(policy, '/tmp/.git/config'), 'read')
    assert.equal(accessTo(policy, '/tmp/.codex'), 'write')
    assert.equal(accessTo(policy, '/tmp/.aws'), 'write')
    const inside = bind(
      { entries: [write(special('slash_tmp'))], cwd: '/tmp', roots: ['/tmp'] },
      new FakeHost({ '/tmp': '/' }),
    )
    assert.equal(accessTo(inside, '/tmp/.codex'), 'read')
  })

  test('do not depend on whether /tmp is named or said to be temporary first', () => {
    const entries = [write(special('slash_tmp')), write(at('/tmp'))]
    const keys = [entries, entries.toReversed()].map((order) => bind({ entries: order }, host).files?.key)
    assert.equal(keys[0], keys[1])
    assert.equal(accessTo(bind({ entries }, host), '/tmp/.git'), 'read')
  })
})

describe('a repository that a .git file points to', () => {
  const tree = {
    '/ws/.git': 'gitdir: /ws/.bare/worktrees/ws /ws/.bare',
    '/ws/.bare/worktrees/ws': '/',
    '/home/me/.ssh/id': 'text',
  }
  const bound = (pointer: string, entries: readonly PermissionEntry[] = [write(roots())]) =>
    bind({ entries, ...inWorkspace }, new FakeHost({ ...tree, '/ws/.git': pointer }))

  test('is only to be read if it could be written to', () => {
    const policy = bound(tree['/ws/.git'])
    assert.equal(accessTo(policy, '/ws/.git'), 'read')
    assert.equal(accessTo(policy, '/ws/.bare/hooks'), 'read')
    assert.equal(accessTo(policy, '/ws/.bare/worktrees/ws/HEAD'), 'read')
    assert.equal(accessTo(policy, '/ws/x'), 'write')
  })

  test('is written to where an entry names it', () => {
    const policy = bound(tree['/ws/.git'], [write(roots()), write(at('/ws/.bare'))])
    assert.equal(accessTo(policy, '/ws/.bare/objects'), 'write')
  })

  test('is not readable because a file points to it', () => {
    assert.equal(accessTo(bound('gitdir: /home/me/.ssh'), '/home/me/.ssh/id'), 'none')
    assert.equal(accessTo(bound('gitdir: /'), '/home/me/.ssh/id'), 'none')
    const entries = [read(special('root')), write(roots()), deny(at('/home/me'))]
    assert.equal(accessTo(bound('gitdir: /home/me/.ssh', entries), '/home/me/.ssh/id'), 'none')
  })
})

describe('deny patterns', () => {
  const odd = new FakeHost({ '/w{a,b}[1]*/x.env': 'text', '/real/x.env': 'text', '/l*nk': '-> /real', '/ws': '/' })

  test('are relative to the working directory', () => {
    const policy = bind({ entries: [write(at('/ws')), glob('**/*.env')], cwd: '/ws' }, host)
    assert.equal(accessTo(policy, '/ws/a/b.env'), 'none')
    assert.equal(accessTo(policy, '/ws/a/b'), 'write')
    const fallback = bindPolicy(intentOf({ entries: [read(special('root')), glob('*.env')] }), host, { cwd: '/two' })
    assert.equal(accessTo(fallback, '/two/x.env'), 'none')
  })

  test('of the project roots are about each of them', () => {
    const entries = [read(special('root')), glob('codex-project-roots://**/*.env')]
    const policy = bind({ entries, cwd: '/ws', roots: ['/ws', '/two'] }, host)
    assert.equal(accessTo(policy, '/ws/a.env'), 'none')
    assert.equal(accessTo(policy, '/two/b/c.env'), 'none')
    assert.equal(accessTo(policy, '/etc/a.env'), 'read')
    assert.ok(bind({ entries, cwd: '/ws' }, host).files?.readsEverything)
  })

  test('take the names of roots and working directories literally', () => {
    const root = '/w{a,b}[1]*'
    const entries = [read(special('root')), glob('codex-project-roots://*.env'), glob('*.key')]
    const policy = bind({ entries, cwd: root, roots: [root] }, odd)
    assert.deepEqual(
      policy.files?.globs.map(({ directory }) => directory),
      [root, root],
    )
    assert.equal(accessTo(policy, `${root}/x.env`), 'none')
    assert.equal(accessTo(policy, `${root}/x.key`), 'none')
    for (const other of ['/wa1/x.env', '/wb1x/x.env', '/w{a,b}1/x.env']) assert.equal(accessTo(policy, other), 'read')
  })

  test('hold where the directory that they begin with leads to', () => {
    const policy = bind({ entries: [read(special('root')), glob('*.env')], cwd: '/l*nk' }, odd)
    assert.equal(accessTo(policy, '/real/x.env'), 'none')
    const other = bind({ entries: [read(special('root')), glob('/home/me/work/**/*.env')] }, host)
    assert.equal(accessTo(other, '/ws/a/x.env'), 'none')
  })

  test('without wildcards hold for what the path leads to', () => {
    const linked = new FakeHost({ '/ws/secret': '-> ../vault/key', '/vault/key': 'text' })
    const policy = bind({ entries: [read(special('root')), glob('/ws/secret')] }, linked)
    assert.equal(accessTo(policy, '/vault/key'), 'none')
    assert.equal(accessTo(policy, '/ws/secret'), 'none')
  })

  test('beat entries that are more specific', () => {
    const policy = bind({ entries: [glob('/ws/src/*'), write(at('/ws/src/main.c'))] }, host)
    assert.equal(accessTo(policy, '/ws/src/main.c'), 'none')
  })

  test('keep how deep they are to be looked for', () => {
    assert.equal(bind({ entries: [glob('/ws/*.env')], globDepth: 3 }, host).files?.globDepth, 3)
  })
})
