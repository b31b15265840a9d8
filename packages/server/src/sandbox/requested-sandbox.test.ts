import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Confinement } from '@waldo/local'
import { fromPosixPath, methods, type Params } from '@waldo/protocol'
import { ExecutorSandbox } from './executor-sandbox.ts'
import { requestedSandbox } from './requested-sandbox.ts'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-requested-')))
const sandbox = new ExecutorSandbox({
  stateDir: join(directory, 'state'),
  hidden: [],
  namespaceMaker: ['/bin/false'],
  platform: 'linux',
})
after(() => {
  sandbox.close()
  rmSync(directory, { recursive: true })
})

function request(wanted: object) {
  const basics = { processId: 'p', argv: ['/bin/true'], cwd: fromPosixPath(directory), env: {}, tty: false }
  const params = methods['process/start'].params({ ...basics, ...wanted }) as Params<'process/start'>
  return requestedSandbox({ sandbox }, params, () => undefined)
}

const sandboxed = (permissions: object, rest: object = {}) => ({
  sandbox: { permissions, windowsSandboxLevel: 'disabled', ...rest },
})
const managed = (entries: object[], network = 'restricted') => ({
  type: 'managed',
  file_system: { type: 'restricted', entries },
  network,
})
const READ_ALL = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' }
const unrestricted = (network: string) => ({ type: 'managed', file_system: { type: 'unrestricted' }, network })
const proxied = (proxy: object = {}, rest: object = {}) => ({
  networkProxy: {
    proxy: {
      enabled: true,
      enableSocks5: true,
      enableSocks5Udp: false,
      allowUpstreamProxy: false,
      dangerouslyAllowAllUnixSockets: false,
      mode: 'full',
      domains: null,
      unixSockets: null,
      allowLocalBinding: false,
      ...proxy,
    },
    ...rest,
  },
})

describe('a command', () => {
  const types: Record<string, [object, 'none' | 'linuxSeccomp']> = {
    'restricted files': [sandboxed(managed([READ_ALL], 'enabled')), 'linuxSeccomp'],
    'a restricted network': [sandboxed(unrestricted('restricted')), 'linuxSeccomp'],
    'somebody else who isolates it, and no network': [
      sandboxed({ type: 'external', network: 'restricted' }),
      'linuxSeccomp',
    ],
    'somebody else who isolates it': [sandboxed({ type: 'external', network: 'enabled' }), 'none'],
    'no restriction': [sandboxed(unrestricted('enabled')), 'none'],
    'no sandbox': [sandboxed({ type: 'disabled' }), 'none'],
    'a proxy that it must use': [
      { ...sandboxed({ type: 'disabled' }), ...proxied(), enforceManagedNetwork: true },
      'linuxSeccomp',
    ],
    'a proxy that it may use': [proxied(), 'none'],
    limits: [{ limits: { wallMs: 1000 } }, 'none'],
  }
  for (const [what, [wanted, sandboxType]] of Object.entries(types)) {
    test(`with ${what} runs in ${sandboxType === 'none' ? 'no sandbox' : 'one'}`, () => {
      assert.equal(request(wanted).sandboxType, sandboxType)
    })
  }
})

describe('a command is refused', () => {
  const managedNetwork = { enforceManagedNetwork: true }
  const asking = (processId: string, policyDecisionTimeoutMs = 1000) => ({
    processId,
    ...proxied({}, { policyDecisionTimeoutMs }),
  })
  const refusals: Record<string, [object, RegExp]> = {
    'that must use a proxy, without a sandbox': [{ ...managedNetwork, ...proxied() }, /needs a sandbox/],
    'that must use a proxy, without one': [
      { ...managedNetwork, ...sandboxed(managed([READ_ALL])) },
      /needs a networkProxy that is enabled/,
    ],
    'that must use a proxy that is off': [
      { ...managedNetwork, ...sandboxed(managed([READ_ALL])), ...proxied({ enabled: false }) },
      /needs a networkProxy that is enabled/,
    ],
    'whose client wants to decide in no time': [asking('p', 0), /timeout must be nonzero/],
    'that nobody could be asked about': [asking(''), /process ID must be non-empty/],
    'that nobody could be asked about by so long a name': [asking('ä'.repeat(129)), /at most 256 bytes/],
    'whose proxy would reach sockets': [proxied({ unixSockets: { '/run/x': 'allow' } }), /UNIX sockets/],
    'whose proxy is nonsense': [proxied({ mode: 'some' }), /mode/],
    'with a path of another system': [
      sandboxed(managed([READ_ALL]), { cwd: 'file:///C:/x' }),
      /not valid on this exec-server host/,
    ],
    'that is to be confined by Landlock alone': [
      sandboxed(managed([READ_ALL]), { useLegacyLandlock: true }),
      /useLegacyLandlock/,
    ],
    'with a pattern for the whole machine': [
      sandboxed(managed([READ_ALL, { path: { type: 'glob_pattern', pattern: '/**/*.env' }, access: 'deny' }])),
      /begin it with a directory/,
    ],
  }
  for (const [title, [wanted, message]] of Object.entries(refusals)) {
    test(title, () => assert.throws(() => request(wanted), message))
  }

  test('with the number that clients know, and what kind of refusal it is', () => {
    const roots = { path: { type: 'glob_pattern', pattern: '/**' }, access: 'deny' }
    const expected = { name: 'ProtocolError', code: -32602, data: { kind: 'sandboxUnenforceable' } }
    assert.throws(() => request(sandboxed(managed([roots]))), expected)
    assert.throws(() => request({ enforceManagedNetwork: true }), { name: 'ProtocolError', code: -32602 })
  })

  test('later, if only then it is known that the profile cannot be enforced', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${directory}/bad`), Buffer.of(0xff), Buffer.from('.env')]), '')
    const pattern = { path: { type: 'glob_pattern', pattern: `${directory}/*.env` }, access: 'deny' }
    const requested = request(sandboxed(managed([READ_ALL, pattern])))
    assert.equal(requested.sandboxType, 'linuxSeccomp')
    const prepared = requested.prepare()
    assert.ok(prepared instanceof Promise)
    await assert.rejects(prepared, { code: -32602, data: { kind: 'sandboxUnenforceable' }, message: /not UTF-8/ })
  })
})

describe('what a command is confined by', () => {
  test('is there at once if nothing has to be waited for, and says by what', () => {
    const project = { path: { type: 'special', value: { kind: 'project_roots' } }, access: 'write' }
    const profile = managed([READ_ALL, project])
    const { prepare } = request(sandboxed(profile, { workspaceRoots: [fromPosixPath(directory)] }))
    const confinement = prepare() as Confinement
    const command = { program: '/bin/true', args: [], arg0: undefined, cwd: directory, env: { A: 'a' } }
    const launch = confinement.launch(command, { terminal: false })
    const text = launch.argv.join(' ')
    assert.match(text, /bwrap --args 4 -- \/bin\/true$/)
    assert.deepEqual([launch.env, launch.isMonitor], [{}, true])
    launch.abandon()
  })

  test('is only limits for what may do everything', () => {
    const confinement = request({ limits: { fileBytes: 4096 } }).prepare() as Confinement
    const command = { program: '/bin/true', args: ['x'], arg0: 'name', cwd: directory, env: { A: 'a' } }
    const launch = confinement.launch(command, { terminal: false })
    assert.deepEqual(launch.argv.slice(-3), ['name', '/bin/true', 'x'])
    assert.deepEqual(
      [launch.env, launch.cwd, launch.isMonitor, launch.ran(false)],
      [{ A: 'a' }, directory, false, true],
    )
    launch.abandon()
    assert.throws(() => confinement.launch({ ...command, cwd: Buffer.from(directory) }, { terminal: false }), {
      code: 'SPAWN_FAILED',
      message: /name is UTF-8/,
    })
  })
})
