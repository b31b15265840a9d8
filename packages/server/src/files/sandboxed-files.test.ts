import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { fromPosixPath, methods, type Params, type SandboxIntent } from '@waldo/protocol'
import { eventually } from '@waldo/testkit'
import { EncodedResult } from '../encoded-result.ts'
import { ExecutorSandbox } from '../sandbox/executor-sandbox.ts'
import { SandboxedHelper } from '../sandbox/sandboxed-helper.ts'
import type { FileMethod } from './file-methods.ts'
import type { HelperPool } from './helper-pool.ts'
import { SandboxedFiles } from './sandboxed-files.ts'

const MAIN = join(import.meta.dir, '../../../cli/src/main.ts')
const root = fs.realpathSync(fs.mkdtempSync('/var/tmp/waldo-sandboxed-'))
const at = (name: string) => join(root, name)
const sandbox = new ExecutorSandbox({ stateDir: at('state'), hidden: [at('state')], namespaceMaker: ['/bin/false'] })
const helper = new SandboxedHelper(sandbox, [process.execPath, MAIN, 'file-helper'])
after(() => {
  sandbox.close()
  fs.rmSync(root, { recursive: true })
})

/** A profile: everything may be read, and these be used as they say. */
function profile(entries: Record<string, string>): SandboxIntent {
  const said = Object.entries(entries).map(([name, access]) => ({
    path: { type: 'path', path: fromPosixPath(at(name)) },
    access,
  }))
  const all = [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }, ...said]
  return intent({ type: 'managed', file_system: { type: 'restricted', entries: all }, network: 'restricted' })
}
function intent(permissions: object, rest: object = {}): SandboxIntent {
  const given = { path: 'file:///', sandbox: { permissions, windowsSandboxLevel: 'disabled', ...rest } }
  return (methods['fs/readFile'].params(given) as Params<'fs/readFile'>).sandbox!
}

const running = new Set<number>()
/** Helpers that nobody needs are ended by timers that this test lets run out when it wants to. */
const timers: (() => void)[] = []
const { setTimeout: realTimeout } = globalThis
let files: SandboxedFiles
function open(launch?: readonly string[]): SandboxedFiles {
  const guard = (pid: number) => {
    running.add(pid)
    return { kill: () => running.has(pid) && process.kill(-pid, 'SIGKILL'), release: () => running.delete(pid) }
  }
  const stand = {
    prepare: (_: SandboxIntent, rules: { key: string }) => ({ key: rules.key, launch: () => ({ argv: launch! }) }),
  }
  const from = launch ? (stand as unknown as SandboxedHelper) : helper
  files = new SandboxedFiles({ sandbox: () => sandbox, helper: () => from, guard: guard as never })
  return files
}
beforeEach(() => {
  for (const name of ['w', 'v', 'hidden']) fs.mkdirSync(at(name), { recursive: true })
  fs.writeFileSync(at('hidden/key'), 'secret')
  globalThis.setTimeout = ((act: () => void, ms: number) => {
    if (ms !== 60_000) return realTimeout(act, ms)
    timers.push(act)
    return { unref: () => {} }
  }) as typeof setTimeout
})
afterEach(async () => {
  files.close()
  globalThis.setTimeout = realTimeout
  timers.length = 0
  await eventually(() => running.size === 0, 'every helper to end')
})

async function call(pool: HelperPool, method: FileMethod, params: object): Promise<string> {
  const answers = { within: <T>(_: number, make: () => T | Promise<T>) => make() }
  const result = await pool.common.call({ channel: 1, method, params, answers })
  return result instanceof EncodedResult ? Buffer.from(result.bytes).toString() : JSON.stringify(result)
}
const uri = (name: string) => fromPosixPath(at(name))

describe('files under a profile', () => {
  test('are worked on by a helper that sees only what the profile shows', async () => {
    const pool = open()
      .accessFor(profile({ w: 'write', hidden: 'deny' }))!
      .pool()
    assert.equal(await call(pool, 'fs/writeFile', { path: uri('w/f'), dataBase64: btoa('text') }), '{}')
    assert.equal(await call(pool, 'fs/readFile', { path: uri('w/f') }), 'text')
    await assert.rejects(call(pool, 'fs/readFile', { path: uri('hidden/key') }), { message: /Permission denied/ })
    await assert.rejects(call(pool, 'fs/writeFile', { path: uri('v/f'), dataBase64: '' }), { message: /Read-only/ })
    await assert.rejects(call(pool, 'fs/createDirectory', { path: uri('w/.git/hooks') }), { message: /Read-only/ })
    const { PATH: _, ...given } = process.env
    const said = await call(pool, 'fs/readFile', { path: fromPosixPath('/proc/self/environ') }).catch(String)
    for (const name of Object.keys(given)) assert.doesNotMatch(said, new RegExp(`(^|\\0)${name}=`))
  })

  test('need none if nothing is restricted', () => {
    const unrestricted = { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' }
    open()
    for (const each of [{ type: 'disabled' }, { type: 'external', network: 'restricted' }, unrestricted]) {
      assert.equal(files.accessFor(intent(each))?.pool(), undefined)
      assert.equal(files.accessFor(intent(each))?.rules, undefined)
    }
    assert.deepEqual([files.accessFor(undefined)?.pool(), running.size], [undefined, 0])
  })

  test('are refused if the profile cannot be enforced, with what clients know', () => {
    const entry = (path: object) => ({
      type: 'managed',
      file_system: { type: 'restricted', entries: [{ path, access: 'deny' }] },
      network: 'restricted',
    })
    const refused = (each: SandboxIntent, expected: object) =>
      assert.throws(() => open().accessFor(each)?.pool(), expected)
    refused(intent(entry({ type: 'glob_pattern', pattern: '/**' })), {
      code: -32600,
      data: { kind: 'sandboxUnenforceable' },
    })
    refused(intent(entry({ type: 'special', value: { kind: 'project_roots' } })), { code: -32602 })
    refused(intent(entry({ type: 'path', path: 'file:///C:/x' })), { code: -32600 })
    refused(intent(profile({}).permissions, { useLegacyLandlock: true }), { message: /useLegacyLandlock/ })
  })

  test('have one helper for all profiles that mean the same', () => {
    open()
    const pool = files.accessFor(profile({ w: 'write', v: 'read' }))?.pool()
    assert.equal(files.accessFor(profile({ v: 'read', w: 'write' }))?.pool(), pool)
    assert.notEqual(files.accessFor(profile({ w: 'write', v: 'deny' }))?.pool(), pool)
  })

  test('have a new helper when a directory of the profile was replaced', async () => {
    open()
    const pool = files.accessFor(profile({ w: 'write' }))!.pool()
    await call(pool, 'fs/writeFile', { path: uri('w/old'), dataBase64: '' })
    fs.rmSync(at('w'), { recursive: true })
    fs.mkdirSync(at('w'))
    const next = files.accessFor(profile({ w: 'write' }))!.pool()
    assert.notEqual(next, pool)
    await call(next, 'fs/writeFile', { path: uri('w/new'), dataBase64: '' })
    assert.deepEqual(fs.readdirSync(at('w')), ['new'])
  })
})

describe('helpers of profiles', () => {
  /** A process that takes everything and never answers. */
  const SILENT = ['sh', '-c', 'cat >/dev/null; true']
  const numbered = (number: number) => {
    fs.mkdirSync(at(`many/${number}`), { recursive: true })
    return files.accessFor(profile({ [`many/${number}`]: 'deny' }))!.pool()
  }

  test('end when nobody needs them any more, but not while somebody does', async () => {
    open(SILENT)
    const [idle, busy] = [numbered(1), numbered(2)]
    const ended = idle.common.ended
    busy.common.openHandles++
    for (const act of timers.splice(0)) act()
    await ended
    assert.deepEqual([idle.common.alive, busy.common.alive, timers.length], [true, true, 1])
    assert.notEqual(numbered(1), idle)
    idle.close()
    busy.common.openHandles--
    for (const act of timers.splice(0)) act()
    await busy.common.ended
  })

  test('are eight at most; the one that was not needed for longest makes room', async () => {
    open(SILENT)
    const pools = Array.from({ length: 8 }, (_, i) => numbered(i))
    const [first, second, third] = pools.map((pool) => pool.common)
    first!.openHandles++
    assert.equal(numbered(1), pools[1])
    numbered(8)
    await third!.ended
    assert.deepEqual([first!.alive, second!.alive], [true, true])
  })

  test('are more only while all are in use, and never without end', () => {
    open(SILENT)
    for (let number = 0; number < 32; number++) numbered(number).common.openHandles++
    assert.throws(() => numbered(32), { code: -32603, message: /32 different profiles/ })
    assert.equal(numbered(5).common.openHandles, 1)
  })
})
