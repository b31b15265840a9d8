import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { PermissionEntry } from '@waldo/protocol'
import { at, bind, FakeHost, glob, roots, special } from '../policy/fixtures/fake-host.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { MACOS_PLATFORM_DIRECTORIES } from './base-profile.ts'
import type { MacLaunch } from './mac-launch.ts'
import { MacSandbox } from './mac-sandbox.ts'
import { SeatbeltModel } from './seatbelt-model.ts'

const TREE = {
  '/Users/me/ws/.git/config': 'text',
  '/Users/me/ws/state/keys': 'text',
  '/Users/me/tool/main.ts': 'text',
  '/private/tmp': '/',
  '/tmp': '-> private/tmp',
  '/bin': '/',
}
const facts = new FakeHost(TREE, { platform: MACOS_PLATFORM_DIRECTORIES })
const readRoot: PermissionEntry = { path: special('root'), access: 'read' }
const workspaceWrite: readonly PermissionEntry[] = [
  readRoot,
  { path: roots(), access: 'write' },
  { path: special('slash_tmp'), access: 'write' },
]
const policyOf = (entries: readonly PermissionEntry[]) =>
  bind({ entries, cwd: '/Users/me/ws', roots: ['/Users/me/ws'] }, facts)
const sandbox = new MacSandbox({ hidden: () => ['/Users/me/ws/state', '/tmp/waldo.sock'] })
const command = { program: '/bin/echo', args: ['a b'], arg0: undefined, cwd: '/Users/me/ws', env: { A: 'b c', B: '' } }

/** What a launch says of files, by the rules of Seatbelt. */
function modelOf({ argv }: MacLaunch): SeatbeltModel {
  const definitions = argv.flatMap((each) =>
    [...each.matchAll(/^-D(\w+)=(.*)$/gs)].map(([, name, path]) => [name, path]),
  )
  return new SeatbeltModel({ profile: argv[2]!, parameters: Object.fromEntries(definitions) })
}

describe('a launch under Seatbelt', () => {
  test('of a workspace-write profile is the command line that we have looked at', () => {
    const prepared = sandbox.prepare({ policy: policyOf(workspaceWrite), facts, network: 'restricted' })
    const launched = prepared.launch(command)
    const { argv, env, cwd, isMonitor } = launched
    assert.equal(`${argv.join('\n')}\n`, readFileSync(join(import.meta.dirname, 'golden/workspace-launch.txt'), 'utf8'))
    assert.deepEqual(
      { env, cwd, descriptors: launched.start((descriptors) => descriptors), isMonitor },
      { env: {}, cwd: '/Users/me/ws', descriptors: [], isMonitor: false },
    )
  })

  test('is refused in a managed network, which nobody here could see to', () => {
    assert.throws(
      () => sandbox.prepare({ policy: policyOf([readRoot]), facts, network: 'proxy' }),
      (error) =>
        error instanceof PolicyError && error.kind === 'unavailable' && /run the executor on Linux/.test(error.message),
    )
  })

  test('is refused in a directory whose name is no text', () => {
    const prepared = sandbox.prepare({ policy: policyOf([readRoot]), facts, network: 'restricted' })
    assert.throws(() => prepared.launch({ ...command, cwd: Buffer.from([0x2f, 0xff]) }), /UTF-8/)
  })

  test('puts limits and the like where they belong', () => {
    const prepared = sandbox.prepare({ policy: policyOf([readRoot]), facts, network: 'restricted' })
    const wrapping = {
      outside: (argv: readonly string[]) => ['outer', ...argv],
      inside: (argv: readonly string[]) => ['inner', ...argv],
    }
    const { argv } = prepared.launch(command, { wrapping })
    assert.deepEqual(argv.slice(0, 3), ['outer', '/usr/bin/sandbox-exec', '-p'])
    assert.deepEqual(argv.slice(-3), ['inner', '/bin/echo', 'a b'])
  })

  test('hides the files of the executor, keeps them in place, and does not let their sockets be reached', () => {
    const policy = { ...policyOf(workspaceWrite), network: 'enabled' as const }
    const launch = sandbox.prepare({ policy, facts, network: 'enabled' }).launch(command)
    const model = modelOf(launch)
    for (const path of ['/Users/me/ws/state', '/Users/me/ws/state/keys', '/private/tmp/waldo.sock']) {
      for (const operation of ['file-read-data', 'file-write-create', 'file-write-unlink']) {
        assert.ok(!model.allows(operation, path), `${operation} ${path}`)
      }
    }
    assert.ok(model.allows('file-write-create', '/Users/me/ws/stated'))
    const inside = sandbox.prepare({
      policy: policyOf([readRoot, { path: at('/Users'), access: 'write' }]),
      facts,
      network: 'restricted',
    })
    assert.ok(!modelOf(inside.launch(command)).allows('file-write-unlink', '/Users/me/ws', 'DIRECTORY'))
    const sockets = launch.argv[2]!.match(/\(deny network-outbound .*\)/g)
    assert.equal(sockets?.length, 2)
  })

  test('of a helper lets it read what it consists of, and nothing more', () => {
    const { files } = policyOf([
      { path: special('minimal'), access: 'read' },
      { path: at('/Users/me/tool'), access: 'deny' },
      glob('/Users/**/*.ts'),
    ])
    const prepared = sandbox.prepareHelper({ files: files!, facts, own: ['/opt/waldo', '/Users/me/tool'] })
    const model = modelOf(prepared.launch(command))
    for (const path of ['/opt/waldo', '/Users/me/tool/main.ts']) {
      assert.ok(model.allows('file-read-data', path), path)
      assert.ok(model.allows('process-exec', path), path)
      assert.ok(!model.allows('file-write-data', path), path)
    }
    assert.ok(model.allows('file-read-metadata', '/Users/me'))
    assert.ok(!model.allows('file-read-data', '/Users/me'))
    assert.ok(!model.allows('file-read-data', '/Users/me/ws/a.ts'))
    const hidden = sandbox.prepareHelper({ files: files!, facts, own: ['/Users/me/ws'] })
    assert.ok(!modelOf(hidden.launch(command)).allows('file-read-data', '/Users/me/ws/state/keys'))
  })

  test('is another one as soon as the profile is', () => {
    const identityOf = (entries: readonly PermissionEntry[]) =>
      sandbox.prepare({ policy: policyOf(entries), facts, network: 'restricted' }).identity
    assert.equal(identityOf(workspaceWrite), identityOf(workspaceWrite))
    assert.notEqual(identityOf(workspaceWrite), identityOf([readRoot]))
  })
})

const skip = process.platform === 'darwin' ? false : 'Seatbelt is there on macOS only'

describe('a command on a Mac', () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-mac-')))
  after(() => rmSync(directory, { recursive: true }))
  const workspace = join(directory, 'ws')
  const state = join(directory, 'ws/state')
  mkdirSync(state, { recursive: true })
  writeFileSync(join(state, 'key'), 'TOPSECRET')

  function run(script: string, entries: readonly PermissionEntry[] = workspaceWrite.slice(0, 2)) {
    const mac = new MacSandbox({ hidden: () => [state] })
    const host = mac.lookAround()
    const policy = bind({ entries, cwd: workspace, roots: [workspace] }, host)
    const prepared = mac.prepare({ policy, facts: host, network: 'restricted' })
    const given = { program: '/bin/sh', args: ['-c', script], arg0: undefined, cwd: workspace, env: { MARK: 'here' } }
    const { argv, env, cwd } = prepared.launch(given)
    const [program, ...args] = argv
    return spawnSync(program, args, { env, cwd, encoding: 'utf8', timeout: 30_000 })
  }

  test('works where it may, with its environment', { skip }, () => {
    assert.equal(run('echo $MARK > new && cat new').stdout, 'here\n')
    assert.notEqual(run('echo x > ../outside').status, 0)
    assert.ok(!existsSync(join(directory, 'outside')))
  })

  test('does not see what the executor keeps for itself', { skip }, () => {
    assert.doesNotMatch(run('cat state/key; mv state s; cat s/key; ln state/key k; cat k').stdout, /TOPSECRET/)
  })

  test('is denied a file however the profile spells it', { skip }, () => {
    writeFileSync(join(workspace, 'Secret'), 'TOPSECRET')
    const denied: PermissionEntry = { path: at(join(workspace, 'secret')), access: 'deny' }
    assert.doesNotMatch(run('cat Secret secret SECRET', [...workspaceWrite, denied]).stdout, /TOPSECRET/)
  })
})
