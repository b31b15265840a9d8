import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { bind, FakeHost, roots, special } from '../policy/fixtures/fake-host.ts'
import { findBubblewrap, isolationArguments } from './bubblewrap.ts'
import { planMounts } from './mount-plan.ts'

const directory = mkdtempSync(join(tmpdir(), 'waldo-bubblewrap-'))
after(() => rmSync(directory, { recursive: true }))

function program(name: string, mode: number): string {
  const path = join(directory, name)
  writeFileSync(path, '#!/bin/sh\n')
  chmodSync(path, mode)
  return path
}

describe('bubblewrap', () => {
  test('is the first that only we or root could have put there', (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can give files away')
    const good = program('good', 0o755)
    const foreign = program('foreign', 0o755)
    chownSync(foreign, 1234, 1234)
    const bad = [join(directory, 'missing'), foreign, program('open', 0o775), program('plain', 0o644)]
    assert.equal(findBubblewrap(bad), undefined)
    assert.equal(findBubblewrap([...bad, good, program('later', 0o755)]), good)
  })

  test('is judged by the file that a link leads to', (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can give files away')
    const foreign = program('behind-link', 0o755)
    symlinkSync(foreign, join(directory, 'link'))
    assert.equal(findBubblewrap([join(directory, 'link')]), join(directory, 'link'))
    chownSync(foreign, 1234, 1234)
    assert.equal(findBubblewrap([join(directory, 'link')]), undefined)
  })

  test('is not looked for where the PATH leads', () => {
    const { PATH } = process.env
    program('bwrap', 0o755)
    process.env.PATH = directory
    try {
      assert.notEqual(findBubblewrap(), join(directory, 'bwrap'))
    } finally {
      process.env.PATH = PATH
    }
  })
})

/** What the most common profile of a real client says: all may be read, the workspace and temporary files be written. */
const WORKSPACE_WRITE = [
  { path: special('root'), access: 'read' },
  { path: roots(), access: 'write' },
  { path: special('slash_tmp'), access: 'write' },
  { path: special('tmpdir'), access: 'write' },
  ...['.git', '.agents', '.codex'].map(
    (name) => ({ path: roots(name), access: 'read', missing_path_behavior: 'skip' }) as const,
  ),
] as const

const NAMESPACES =
  '--die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try'.split(' ')

/** One mount to a line. What only some kernels have is left out. */
function lines(args: readonly string[]): string[] {
  const text = args.join(' ').replaceAll(/ (?=--)/g, '\n')
  return text.replaceAll(/\n--ro-bind no-file \/proc\/.*/g, '').split('\n')
}

describe('the arguments for bubblewrap', () => {
  const masks = { deniedFile: 'no-file', deniedDirectory: 'no-dir', emptyFile: 'void', emptyDirectory: 'void-dir' }
  const tree = { '/w/.git': '/', '/tmp': '/', '/var/tmp/own': '/' }
  const host = new FakeHost(tree, { tmpdir: '/var/tmp/own' })
  const { files } = bind({ entries: [...WORKSPACE_WRITE], roots: ['/w'], cwd: '/w' }, host)
  const mounts = planMounts(files!, {
    masks,
    matches: [],
    hidden: [{ path: '/state', isDirectory: true }],
    targetOf: () => assert.fail('there are no links'),
    look: (path) => (host.resolve(path).exists ? 'directory' : undefined),
    couldBeMade: () => true,
  })

  test('make of the profile of a real client what it says', () => {
    const args = isolationArguments({ mounts, sharesNetwork: false, terminal: false, deniedFile: 'no-file' })
    assert.deepEqual(lines(args), [
      ...['--new-session', ...NAMESPACES, '--unshare-net', '--cap-drop ALL'],
      '--ro-bind / /',
      '--dev /dev',
      ...['--perms 1777', '--size 1073741824', '--tmpfs /dev/shm', '--remount-ro /dev'],
      ...['--bind /tmp /tmp', '--bind /w /w'],
      '--ro-bind no-dir /state',
      '--ro-bind /w/.git /w/.git',
      ...['.agents', '.codex', '.aws', '.waldo'].map((name) => `--ro-bind void-dir /w/${name}`),
      '--bind /var/tmp/own /var/tmp/own',
      '--proc /proc',
      '--ro-bind /proc/sys /proc/sys',
      '--ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger',
    ])
  })

  test('keep the session if there is a terminal, and the network if it is shared', () => {
    const args = isolationArguments({ mounts, sharesNetwork: true, terminal: true, deniedFile: 'no-file' })
    assert.ok(!args.includes('--new-session') && !args.includes('--unshare-net'))
  })

  test('seal a root of our own last', () => {
    const hidden = { ...mounts, base: 'hidden' } as const
    const args = isolationArguments({ mounts: hidden, sharesNetwork: false, terminal: false, deniedFile: 'no-file' })
    assert.equal(args.indexOf('--tmpfs'), args.indexOf('ALL') + 1)
    assert.deepEqual(args.slice(-2), ['--remount-ro', '/'])
  })

  test('put the files of a helper into /dev before that is sealed', () => {
    const extras = ['--ro-bind', '/program', '/dev/.waldo/program']
    const args = isolationArguments({ mounts, sharesNetwork: false, terminal: false, deniedFile: 'no-file', extras })
    const at = args.indexOf('/program') - 1
    assert.deepEqual(args.slice(at, at + 5), [...extras, '--remount-ro', '/dev'])
  })

  test('leave the files alone if they are not restricted, but for the settings of the machine', () => {
    const args = isolationArguments({ mounts: undefined, sharesNetwork: false, terminal: false, deniedFile: 'no-file' })
    const mounts = ['--dev-bind / /', '--proc /proc', '--ro-bind /proc/sys /proc/sys', '--ro-bind-try /sys /sys']
    assert.deepEqual(lines(args).slice(-4), mounts)
  })
})
