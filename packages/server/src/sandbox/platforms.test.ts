import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { ErrorCode, fromPosixPath, methods, type Params, ProtocolError } from '@waldo/protocol'
import { FileRules, PolicyError } from '@waldo/sandbox'
import { FileHelper } from '../files/file-helper.ts'
import type { FileMethod } from '../files/file-methods.ts'
import { ExecutorSandbox } from './executor-sandbox.ts'
import { MacMeans } from './mac-means.ts'
import { requestedSandbox } from './requested-sandbox.ts'
import { SandboxedHelper } from './sandboxed-helper.ts'

const stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-platforms-')))
after(() => rmSync(stateDir, { recursive: true }))
const options = { stateDir, hidden: [stateDir], namespaceMaker: ['/bin/false'] }
const opened: ExecutorSandbox[] = []
after(() => {
  for (const sandbox of opened) sandbox.close()
})

function open(platform?: NodeJS.Platform): ExecutorSandbox {
  const sandbox = new ExecutorSandbox({ ...options, ...(platform && { platform }) })
  opened.push(sandbox)
  return sandbox
}

const RESTRICTED = {
  type: 'managed',
  file_system: {
    type: 'restricted',
    entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
  },
  network: 'restricted',
}

function startParams(wanted: object): Params<'process/start'> {
  return methods['process/start'].params({
    processId: 'p',
    argv: ['/bin/true'],
    cwd: fromPosixPath('/'),
    env: {},
    tty: false,
    ...wanted,
  }) as Params<'process/start'>
}

function request(platform: NodeJS.Platform, wanted: object) {
  return requestedSandbox({ sandbox: open(platform) }, startParams(wanted), () => undefined)
}

const sandboxed = (permissions: object) => ({ sandbox: { permissions, windowsSandboxLevel: 'disabled' } })
const refusal = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ProtocolError)
  assert.deepEqual([error.code, error.data], [ErrorCode.invalidParams, { kind: 'sandboxUnavailable' }])
  assert.match(error.message, message)
  return true
}

describe('the sandbox of a system', () => {
  test('is named on the wire as clients know it', () => {
    assert.equal(request('linux', sandboxed(RESTRICTED)).sandboxType, 'linuxSeccomp')
    assert.equal(request('darwin', sandboxed(RESTRICTED)).sandboxType, 'macosSeatbelt')
    assert.equal(request('darwin', sandboxed({ type: 'disabled' })).sandboxType, 'none')
  })

  test('is that of this system if no other is named', () => {
    assert.equal(open().sandboxType, open(process.platform).sandboxType)
  })

  test('is missing where none has been built: what needs one is refused, and nothing else', () => {
    for (const platform of ['win32', 'freebsd'] as const) {
      const { available, reason } = open(platform).info
      assert.deepEqual({ available, reason }, { available: false, reason: `no sandbox has been built for ${platform}` })
      assert.throws(() => request(platform, sandboxed(RESTRICTED)).prepare(), refusal(new RegExp(platform)))
      assert.throws(() => request(platform, { limits: { wallMs: 1000 } }).prepare(), refusal(new RegExp(platform)))
      assert.equal(request(platform, sandboxed({ type: 'disabled' })).prepare(), undefined)
    }
  })

  test('is missing for files, too, where none has been built', () => {
    const sandbox = open('win32')
    const files = new FileRules({ rules: [], globs: [], globDepth: undefined })
    const own = { program: '/bin/true', sources: undefined }
    assert.throws(
      () => sandbox.prepareHelper({ rules: files, files, facts: sandbox.lookAround(), own }),
      (error) => error instanceof PolicyError && error.kind === 'unavailable',
    )
  })
})

describe('the sandbox of this system', () => {
  const { available, reason } = open().info

  test('lets a helper work on files as its rules say', { skip: !available && reason }, async () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-helper-')))
    const uri = (name: string) => fromPosixPath(join(directory, name))
    const entries = [
      { path: { type: 'path', path: uri('') }, access: 'write' },
      { path: { type: 'path', path: uri('secret') }, access: 'deny' },
    ]
    const { sandbox: intent } = startParams(sandboxed({ ...RESTRICTED, file_system: { type: 'restricted', entries } }))
    writeFileSync(join(directory, 'secret'), 'TOPSECRET')
    const sandbox = open()
    const facts = sandbox.lookAround()
    const { files } = sandbox.bind(intent!, facts, undefined)
    const main = join(import.meta.dirname, '../../../cli/src/main.ts')
    const own = new SandboxedHelper(sandbox, [process.execPath, main, 'file-helper'])
    const guard = (pid: number) => ({ kill: () => void process.kill(pid, 'SIGKILL'), release: () => {} })
    const helper = new FileHelper({ launch: own.prepare(intent!, files!, facts).launch, guard, rules: files!.toJSON() })
    const call = (method: FileMethod, params: object) =>
      helper.call({ channel: 1, method, params, answers: { within: (_, make) => make() } })
    try {
      await call('fs/writeFile', { path: uri('new'), dataBase64: Buffer.from('x').toString('base64') })
      assert.equal(readFileSync(join(directory, 'new'), 'utf8'), 'x')
      await assert.rejects(call('fs/readFile', { path: uri('secret') }), /Permission denied/)
      await assert.rejects(call('fs/writeFile', { path: uri('../outside'), dataBase64: '' }), ProtocolError)
    } finally {
      helper.end()
      await helper.ended
      rmSync(directory, { recursive: true })
    }
  })
})

describe('the sandbox of a Mac', () => {
  const skip = process.platform === 'darwin' && 'there is a sandbox here'

  test('is refused where a Mac has none', { skip }, () => {
    assert.throws(() => request('darwin', sandboxed(RESTRICTED)).prepare(), refusal(/sandbox-exec is missing/))
  })

  test('limits nothing, and says so', () => {
    assert.deepEqual(open('darwin').info.limits, {})
    for (const limits of [{ wallMs: 1000 }, { memoryBytes: 1 }, { cpuSeconds: 1, fileBytes: 512 }]) {
      assert.throws(() => request('darwin', { limits }).prepare(), refusal(/limits cannot be enforced on macOS/))
    }
  })

  test('has no networks of its own to give', () => {
    assert.throws(() => open('darwin').namespaces, PolicyError)
  })

  test('does not ask for what only Linux could mean', () => {
    const { sandbox } = sandboxed(RESTRICTED)
    assert.equal(request('darwin', { sandbox: { ...sandbox, useLegacyLandlock: true } }).sandboxType, 'macosSeatbelt')
    assert.throws(() => request('linux', { sandbox: { ...sandbox, useLegacyLandlock: true } }), /useLegacyLandlock/)
  })

  test('lets a helper read itself where it really is', () => {
    const means = new MacMeans(options)
    const facts = means.lookAtFiles()
    const files = new FileRules({ rules: [], globs: [], globDepth: undefined })
    symlinkSync('/usr/bin', join(stateDir, 'sources'))
    const requested = { program: realpathSync('/bin/sh'), sources: join(stateDir, 'sources') }
    const { prepared, own, env } = means.prepareHelper({ rules: files, files, facts, own: requested })
    assert.deepEqual({ own, env }, { own: { program: requested.program, sources: '/usr/bin' }, env: {} })
    const command = { program: own.program, args: ['x'], arg0: undefined, cwd: '/', env: {} }
    const { argv } = prepared.launch(command, { terminal: false })
    assert.ok([own.program, own.sources].every((path) => argv.some((each) => each.endsWith(`=${path}`))))
    assert.deepEqual(argv.slice(-2), [own.program, 'x'])
  })
})
