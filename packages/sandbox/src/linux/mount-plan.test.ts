import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Access, PermissionEntry } from '@waldo/protocol'
import { at, bind, FakeHost, glob, special } from '../policy/fixtures/fake-host.ts'
import { type MountPlan, type MountPlanOptions, planMounts } from './mount-plan.ts'

const MASKS = { deniedFile: 'no-file', deniedDirectory: 'no-dir', emptyFile: 'void-file', emptyDirectory: 'void-dir' }
const READ_ALL: PermissionEntry = { path: special('root'), access: 'read' }
const WRITE_ALL: PermissionEntry = { path: special('root'), access: 'write' }

/** `write /path`, or a pattern to be denied. */
function entry(text: string): PermissionEntry {
  const [access, path] = text.split(' ') as [Access, string]
  return path.includes('*') ? glob(path) : { path: at(path), access }
}

type Given = Partial<Omit<MountPlanOptions, 'masks'>> & { readonly roots?: readonly string[] }

/** The plan for a machine that is a table, with its arguments one mount to a line. */
function plan(tree: Record<string, string>, entries: readonly (string | PermissionEntry)[], given: Given = {}) {
  const host = new FakeHost(tree)
  const { roots = [], ...options } = given
  const spelled = entries.map((each) => (typeof each === 'string' ? entry(each) : each))
  const made = planMounts(bind({ entries: spelled, roots, cwd: '/w' }, host).files!, {
    masks: MASKS,
    matches: [],
    hidden: [],
    targetOf: (link) => tree[link]!.slice('-> '.length),
    look: (path) => {
      const { exists, isDirectory } = host.resolve(path)
      return exists ? (isDirectory ? 'directory' : 'file') : undefined
    },
    couldBeMade: () => true,
    ...options,
  })
  return { ...made, lines: linesOf(made) }
}

function linesOf({ args }: MountPlan): string[] {
  const lines = args.join(' ').split(/ (?=--)/)
  // What says how the next one is made belongs to it.
  return lines
    .join('\n')
    .replace(/(--perms \d+)\n/g, '$1 ')
    .split('\n')
    .filter(Boolean)
}

const bound = (...paths: string[]) => paths.map((path) => `--bind ${path} ${path}`)
const readOnly = (...paths: string[]) => paths.map((path) => `--ro-bind ${path} ${path}`)

describe('the mounts of a profile', () => {
  test('are none if everything is to be read, and nothing else is said', () => {
    const { base, args, mountPoints, pinned } = plan({}, [READ_ALL])
    assert.deepEqual({ base, args, mountPoints, pinned }, { base: 'read', args: [], mountPoints: [], pinned: [] })
  })

  test('come shallow before deep, in whatever order they were asked for', () => {
    const tree = { '/w/a/b/c': '/', '/w/a/b/c/f': 'text' }
    const entries = ['deny /w/a/b/c/f', 'write /w/a/b', 'read /w/a/b/c', 'write /w', 'read /w/a']
    const { lines } = plan(tree, [READ_ALL, ...entries], { couldBeMade: () => false })
    assert.deepEqual(lines, [
      ...bound('/w'),
      ...readOnly('/w/a'),
      ...bound('/w/a/b'),
      ...readOnly('/w/a/b/c'),
      '--ro-bind no-file /w/a/b/c/f',
    ])
  })

  test('hold every directory on the way to what may not be written', () => {
    const { lines, bound: held } = plan({ '/w/a/b/c': '/' }, [WRITE_ALL, 'read /w/a/b/c'])
    assert.deepEqual(lines, [...bound('/w', '/w/a', '/w/a/b'), ...readOnly('/w/a/b/c')])
    assert.deepEqual(held, ['/w', '/w/a', '/w/a/b', '/w/a/b/c'])
  })

  test('hold every directory on the way to what is missing, however much of it is', () => {
    const { lines, mountPoints } = plan({ '/w/a': '/' }, [WRITE_ALL, 'read /w/a/no/deep/er'])
    assert.deepEqual(lines, [...bound('/w', '/w/a'), '--ro-bind void-dir /w/a/no'])
    assert.deepEqual(mountPoints, [{ path: '/w/a/no', kind: 'directory' }])
  })

  test('hold a file that something is said to be below of', () => {
    const { lines, mountPoints } = plan({ '/w/f': 'text' }, [WRITE_ALL, 'deny /w/f/x'])
    assert.deepEqual([lines, mountPoints], [bound('/w', '/w/f'), []])
  })

  test('hold a writable directory in a writable one, if something in it is not', () => {
    const tree = { '/w/a/secret': 'text', '/w/b': '/' }
    const entries = [WRITE_ALL, 'write /w/a', 'deny /w/a/secret', 'write /w/b']
    const { lines } = plan(tree, entries, { couldBeMade: () => false })
    assert.deepEqual(lines, [...bound('/w', '/w/a'), '--ro-bind no-file /w/a/secret'])
  })

  test('protect names in a writable directory, those that do not exist by taking their place', () => {
    const { lines, mountPoints } = plan({ '/w/.git': '/' }, [READ_ALL, 'write /w'])
    const missing = ['.agents', '.codex', '.aws', '.waldo'].map((name) => `/w/${name}`)
    assert.deepEqual(lines, [
      ...bound('/w'),
      ...readOnly('/w/.git'),
      ...missing.map((path) => `--ro-bind void-dir ${path}`),
    ])
    assert.deepEqual(
      mountPoints,
      missing.map((path) => ({ path, kind: 'directory' })),
    )
  })

  test('take the place of what is missing as a file, or as a directory if it has to be one', () => {
    const entries = [WRITE_ALL, 'read /w/new', 'deny /w/hidden', 'deny /w/deep/down', 'read /nowhere']
    const { lines, mountPoints } = plan({ '/w': '/' }, entries, { couldBeMade: (path) => path !== '/nowhere' })
    const masks = ['no-file /w/hidden', 'void-file /w/new', 'no-dir /w/deep'].map((each) => `--ro-bind ${each}`)
    assert.deepEqual(lines, [...bound('/w'), ...masks])
    assert.deepEqual(mountPoints, [
      { path: '/w/hidden', kind: 'file' },
      { path: '/w/new', kind: 'file' },
      { path: '/w/deep', kind: 'directory' },
    ])
  })

  test('seal a directory that is denied after what is to be seen in it is there', () => {
    const { lines } = plan({ '/w/a/b': '/', '/w/a/f': 'text' }, [READ_ALL, 'deny /w', 'read /w/a/b', 'write /w/a/f'])
    assert.deepEqual(lines, ['--perms 0111 --tmpfs /w', ...readOnly('/w/a/b'), ...bound('/w/a/f'), '--remount-ro /w'])
  })

  test('leave out /proc and /dev, which are made anew', () => {
    const { lines } = plan({ '/proc/1': '/', '/dev/null': 'text' }, [READ_ALL, 'deny /proc/1', 'write /dev/null'])
    assert.deepEqual(lines, [])
  })

  test('are refused if they are too many', () => {
    const names = Array.from({ length: 301 }, (_, i) => `/w/${i}`)
    const tree = Object.fromEntries(names.map((name) => [name, 'text']))
    const deny = (count: number) => plan(tree, [READ_ALL, ...names.slice(0, count).map((name) => `deny ${name}`)])
    assert.equal(deny(300).lines.length, 300)
    assert.throws(() => deny(301), { name: 'PolicyError', message: /301 mounts \(at most 300\)/ })
  })
})

describe('what patterns match', () => {
  const file = (path: string) => ({ path, isDirectory: false })
  const directory = (path: string) => ({ path, isDirectory: true })

  test('is covered, and held where it is', () => {
    const matches = [file('/w/a/b/x.env'), directory('/w/a/y.env')]
    const { lines } = plan({ '/w/a/b': '/' }, [WRITE_ALL, 'deny /w/**/*.env'], { matches })
    const [held, masks] = [bound('/w', '/w/a', '/w/a/b'), ['no-dir /w/a/y.env', 'no-file /w/a/b/x.env']]
    assert.deepEqual(new Set(lines), new Set([...held, ...masks.map((each) => `--ro-bind ${each}`)]))
  })

  test('needs no cover in a directory that is not to be seen', () => {
    const given = { matches: [file('/w/a/x.env')] }
    assert.deepEqual(plan({ '/w/a': '/', '/v': '/' }, ['read /v', 'deny /w/**/*.env'], given).lines, readOnly('/v'))
    const { lines } = plan({ '/w/a': '/' }, [READ_ALL, 'deny /w/a', 'deny /w/**/*.env'], given)
    assert.deepEqual(lines, ['--ro-bind no-dir /w/a'])
  })

  test('is covered where a link leads to it, even if an entry shows it', () => {
    const tree = { '/w/x.env': '-> /v', '/v/f': 'text' }
    for (const base of [READ_ALL, 'read /bin']) {
      const { lines } = plan(tree, [base, 'read /v', 'deny /w/*.env'], { matches: [directory('/v')] })
      assert.deepEqual(lines, ['--ro-bind no-dir /v'])
    }
  })

  test('lets nothing be seen below it but what has an entry of its own', () => {
    const tree = { '/v/a/f': 'text', '/v/a/g': 'text', '/v/h': 'text' }
    const entries = [WRITE_ALL, 'read /v/a/f', 'deny /v/h', 'read /v/no', 'deny /w/*.env']
    const { lines, mountPoints } = plan(tree, entries, { matches: [directory('/v')] })
    assert.deepEqual(lines, ['--perms 0111 --tmpfs /v', ...readOnly('/v/a/f'), '--remount-ro /v'])
    assert.deepEqual(mountPoints, [])
  })
})

describe('what belongs to the executor', () => {
  const hidden = [
    { path: '/home/state', isDirectory: true },
    { path: '/run/socket', isDirectory: false },
  ]

  test('is covered wherever it could be seen, and held where it could be moved', () => {
    const masks = ['--ro-bind no-dir /home/state', '--ro-bind no-file /run/socket']
    assert.deepEqual(plan({}, [READ_ALL], { hidden }).lines, masks)
    assert.deepEqual(plan({ '/w': '/' }, ['read /w'], { hidden }).lines, readOnly('/w'))
    const { lines } = plan({ '/home': '/' }, [READ_ALL, 'write /home'], { hidden, couldBeMade: () => false })
    assert.deepEqual(lines, [...bound('/home'), ...masks])
    assert.deepEqual(plan({}, [WRITE_ALL, 'deny /x'], { hidden, couldBeMade: () => false }).lines, [
      ...bound('/home', '/run'),
      ...masks,
    ])
  })

  test('is not for those either who name it', () => {
    const { lines } = plan({ '/home/state': '/' }, [READ_ALL, 'write /home/state'], {
      hidden,
      couldBeMade: () => false,
    })
    assert.deepEqual(lines, ['--ro-bind no-dir /home/state', '--ro-bind no-file /run/socket'])
  })
})

describe('the links that lead to what may be seen', () => {
  const tree = { '/bin': '-> usr/bin', '/usr/bin': '/', '/home/l': '-> /w', '/w': '/', '/dev/l': '-> /w' }

  test('are made again where their directory is not to be seen', () => {
    const { base, lines } = plan(tree, ['read /bin', 'read /home/l', 'read /dev/l'])
    assert.equal(base, 'hidden')
    assert.deepEqual(lines, ['--symlink /w /home/l', '--symlink usr/bin /bin', ...readOnly('/w', '/usr/bin')])
  })

  test('are there already where the root is that of the machine, even if a pattern denies them', () => {
    const { lines } = plan(tree, [READ_ALL, 'read /home/l', 'deny /home/*'], { matches: [] })
    assert.deepEqual(lines, [])
  })

  test('are there already in a directory that may be seen', () => {
    assert.deepEqual(plan(tree, ['read /home', 'read /home/l']).lines, readOnly('/home', '/w'))
  })
})
