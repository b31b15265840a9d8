import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Environment, EnvironmentStatus } from '../environment.ts'
import { ExecError } from '../errors.ts'
import { EnvironmentManager } from './environment-manager.ts'
import { RecordingFactory } from './recording-factory.ts'

const TRANSPORT = { kind: 'url', url: 'ws://box' } as const

async function deferred() {
  const factory = new RecordingFactory()
  const provider = { snapshot: () => ({ environments: [], default: null, includeLocal: false }) }
  const manager = await EnvironmentManager.create({ provider, factory })
  const handle = manager.defer('box')
  return {
    manager,
    factory,
    handle,
    box: handle.environment,
    real: () => factory.created.find(({ id }) => id === 'box'),
  }
}

const failure = (code: ExecError['code'], message?: string) => (error: unknown) => {
  assert.ok(ExecError.is(error, code), String(error))
  if (message !== undefined) assert.equal(error.message, message)
  return true
}

const turnOfTheLoop = () => new Promise((resolve) => setTimeout(resolve))

/** Every call there is. */
const everything = (box: Environment) => ({
  start: box.processes.start(['true']),
  list: box.processes.list(),
  readFile: box.files.readFile('/a'),
  readText: box.files.readText('/a'),
  writeFile: box.files.writeFile('/a', ''),
  append: box.files.append('/a', ''),
  metadata: box.files.metadata('/a'),
  exists: box.files.exists('/a'),
  setMode: box.files.setMode('/a', 0o600),
  canonicalize: box.files.canonicalize('/a'),
  createDirectory: box.files.createDirectory('/a'),
  readDirectory: box.files.readDirectory('/a'),
  walk: box.files.walk('/a'),
  remove: box.files.remove('/a'),
  copy: box.files.copy('/a', '/b'),
  rename: box.files.rename('/a', '/b'),
  glob: box.files.glob('/a'),
  grep: box.files.grep('/a', 'x'),
  watch: box.files
    .watch('/a')
    [Symbol.asyncIterator]()
    .next()
    .then(({ value }) => value),
  readStream: box.files
    .readStream('/a')
    .getReader()
    .read()
    .then(({ value }) => new TextDecoder().decode(value)),
  request: box.http.request('http://x'),
  fetch: box.http.fetch('http://x'),
})

describe('a deferred environment', () => {
  test('is the same object before and after it is ready', async () => {
    const { manager, handle, box } = await deferred()
    const { files, processes, http } = box
    assert.equal(manager.get('box'), box)
    handle.resolve(TRANSPORT)
    assert.equal(manager.get('box'), box)
    assert.deepEqual([box.files === files, box.processes === processes, box.http === http], [true, true, true])
  })

  test('connects when it is used, and not before it is ready', async () => {
    const { handle, box, real } = await deferred()
    const ready = box.ready()
    assert.equal(box.status.state, 'connecting')
    assert.equal(real(), undefined)
    handle.resolve(TRANSPORT)
    await ready
    assert.deepEqual(real()?.calls, ['ready'])
    assert.deepEqual(box.status, { state: 'ready' })
  })

  test('does not connect when it becomes ready and nobody uses it', async () => {
    const { handle, box, real } = await deferred()
    handle.resolve(TRANSPORT)
    assert.deepEqual(real()?.calls, [])
    assert.deepEqual(box.status, { state: 'idle' })
  })

  test('passes on every call, made before it was ready or after', async () => {
    const { handle, box, real } = await deferred()
    const before = everything(box)
    handle.resolve(TRANSPORT)
    for (const calls of [before, everything(box)]) {
      for (const [name, call] of Object.entries(calls)) {
        assert.match(String(await call), new RegExp(`^(processes|files|http)\\.${name}$`))
      }
    }
    await assert.rejects(box.info(), /nothing to tell/)
    await box.sandboxInfo()
    assert.equal(real()?.calls.at(-1), 'sandboxInfo')
  })

  test('writes a stream that was opened before it was ready, and aborts one', async () => {
    const { handle, box, real } = await deferred()
    const writer = box.files.writeStream('/a').getWriter()
    const written = writer.write(new TextEncoder().encode('hello'))
    handle.resolve(TRANSPORT)
    await written
    await writer.close()
    assert.deepEqual(
      real()?.written.map((chunk) => new TextDecoder().decode(chunk)),
      ['hello'],
    )
    assert.deepEqual(real()?.calls, ['files.writeStream', 'closed'])
    const aborting = box.files.writeStream('/a').getWriter()
    await aborting.write(new Uint8Array(1))
    await aborting.abort('enough')
    await assert.rejects(aborting.closed)
    assert.deepEqual(real()?.calls.slice(2), ['files.writeStream', 'aborted'])
  })

  test('opens no stream that nobody reads, or that was given up before it is ready', async () => {
    const { handle, box, real } = await deferred()
    const reader = box.files.readStream('/a').getReader()
    const reading = reader.read()
    await turnOfTheLoop()
    await reader.cancel('enough')
    assert.equal((await reading).done, true)
    const writer = box.files.writeStream('/a').getWriter()
    const outcomes = Promise.allSettled([writer.write(new Uint8Array(1)), writer.closed])
    await turnOfTheLoop()
    await writer.abort('enough')
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    box.files.readStream('/never-read')
    handle.resolve(TRANSPORT)
    await box.ready()
    await turnOfTheLoop()
    assert.deepEqual(real()?.calls, ['ready'])
  })

  test('can be given up waiting for', async () => {
    const { handle, box, real } = await deferred()
    const controller = new AbortController()
    const { signal } = controller
    const waiting = [
      box.ready({ signal }),
      box.files.readText('/a', { signal }),
      box.processes.start(['true'], { signal }),
      box.http.fetch('http://x', { signal }),
      box.http.fetch(new Request('http://x', { signal })),
    ]
    controller.abort(new Error('enough'))
    for (const wait of waiting) await assert.rejects(wait, /enough/)
    await assert.rejects(box.ready({ signal }), /enough/)
    handle.resolve(TRANSPORT)
    await box.ready()
    assert.deepEqual(real()?.calls, ['ready'])
  })

  test('tells how it stands', async () => {
    const { handle, box } = await deferred()
    const told: EnvironmentStatus['state'][] = []
    const stop = box.onStatus(({ state }) => told.push(state))
    handle.resolve(TRANSPORT)
    await box.ready()
    await box.close()
    stop()
    assert.deepEqual(told, ['idle', 'ready', 'closed'])
  })

  test('fails all who wait, and all who come later, if it was not provisioned', async () => {
    const { handle, box, real } = await deferred()
    const before = everything(box)
    handle.fail('no quota')
    for (const calls of [before, everything(box)]) {
      const outcomes = await Promise.allSettled(Object.values(calls))
      for (const outcome of outcomes) {
        assert.ok(outcome.status === 'rejected')
        failure('CONNECT_FAILED', 'environment unavailable: no quota')(outcome.reason)
      }
    }
    assert.equal(box.status.state, 'failed')
    assert.equal(real(), undefined)
  })

  test('takes the same report again, and refuses one that contradicts it', async () => {
    const { handle, factory } = await deferred()
    handle.resolve(TRANSPORT)
    handle.resolve({ ...TRANSPORT })
    assert.equal(factory.created.filter(({ id }) => id === 'box').length, 1)
    assert.throws(
      () => handle.fail('gone'),
      failure('REFUSED', 'environment `box` is already ready, but a later provisioning report failed: gone'),
    )
    assert.throws(() => handle.resolve({ ...TRANSPORT, url: 'ws://other' }), failure('REFUSED'))

    const { handle: failed } = await deferred()
    failed.fail('no quota')
    failed.fail('no quota')
    const refusal = failure('REFUSED', 'environment `box` provisioning already failed: no quota')
    assert.throws(() => failed.resolve(TRANSPORT), refusal)
    assert.throws(() => failed.fail('another'), refusal)
  })

  test('refuses a transport that nobody can connect with, and waits on', async () => {
    const { handle, box } = await deferred()
    assert.throws(() => handle.resolve({ kind: 'url', url: 'none' }), failure('CONFIG_INVALID'))
    assert.equal(box.status.state, 'connecting')
    handle.resolve(TRANSPORT)
    await box.ready()
  })

  test('that is closed fails those who wait, and takes no reports', async () => {
    const { manager, handle, box, real } = await deferred()
    const waiting = box.ready()
    await manager.close()
    await assert.rejects(waiting, failure('CLOSED'))
    assert.deepEqual(box.status, { state: 'closed' })
    assert.throws(() => handle.resolve(TRANSPORT), failure('CLOSED'))
    assert.equal(real(), undefined)
  })

  test('closes the environment behind it', async () => {
    const { manager, handle, real } = await deferred()
    handle.resolve(TRANSPORT)
    await manager.close()
    assert.deepEqual(real()?.calls, ['close'])
  })

  test('can be replaced, which closes it', async () => {
    const { manager, box } = await deferred()
    const waiting = box.ready()
    const other = manager.upsert('box', TRANSPORT)
    await assert.rejects(waiting, failure('CLOSED'))
    assert.equal(manager.get('box'), other)
  })

  test('needs an id of its own', async () => {
    const { manager } = await deferred()
    assert.throws(() => manager.defer('box'), failure('CONFIG_INVALID', 'environment id `box` is duplicated'))
    assert.throws(() => manager.defer(' '), failure('CONFIG_INVALID', 'environment id cannot be empty'))
    assert.throws(() => manager.defer('local'), failure('CONFIG_INVALID'))
  })
})
