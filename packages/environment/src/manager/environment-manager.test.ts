import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '../errors.ts'
import { EnvironmentManager } from './environment-manager.ts'
import { type EnvironmentSnapshot, MAX_ENVIRONMENTS } from './environment-snapshot.ts'
import { RecordingFactory } from './recording-factory.ts'

const url = (text: string) => ({ kind: 'url', url: text }) as const
const BOX = { id: 'box', transport: url('ws://box:1') }
const EMPTY: EnvironmentSnapshot = { environments: [], default: null, includeLocal: false }

async function managed(snapshot: Partial<EnvironmentSnapshot>, factory = new RecordingFactory()) {
  const manager = await EnvironmentManager.create({
    provider: { snapshot: () => ({ ...EMPTY, ...snapshot }) },
    factory,
  })
  return { manager, factory }
}

const invalid = (message: string | RegExp) => (error: unknown) => {
  assert.ok(ExecError.is(error, 'CONFIG_INVALID'), String(error))
  if (typeof message === 'string') assert.equal(error.message, message)
  else assert.match(error.message, message)
  return true
}

describe('an environment manager', () => {
  test('does not connect when it creates a local environment, nor a remote one', async () => {
    const { manager, factory } = await managed({ environments: [BOX], default: 'box', includeLocal: true })
    assert.equal(manager.get('local')?.status.state, 'idle')
    assert.deepEqual(
      factory.created.flatMap(({ calls }) => calls),
      [],
    )
  })

  test('without environments has no default, nothing under `local`, and still its internal local one', async () => {
    const { manager } = await managed({})
    assert.equal(manager.default, undefined)
    assert.equal(manager.get('local'), undefined)
    assert.deepEqual(manager.list(), [])
    assert.deepEqual((manager.internal as { transport?: unknown }).transport, { kind: 'local' })
  })

  test('keeps its default', async () => {
    const { manager } = await managed({ environments: [BOX], default: 'box' })
    assert.ok(manager.default)
    assert.equal(manager.default, manager.default)
  })

  test('has only `remote`, as its default, if that is all the provider gives', async () => {
    const remote = { id: 'remote', transport: url('ws://r') }
    const { manager } = await managed({ environments: [remote], default: 'remote' })
    assert.equal(manager.default?.id, 'remote')
    assert.equal(manager.get('local'), undefined)
    assert.equal((await managed({ environments: [remote] })).manager.default, undefined)
  })

  test('keeps its internal local environment apart from the one that is named', async () => {
    const { manager } = await managed({ includeLocal: true })
    assert.ok(manager.get('local'))
    assert.notEqual(manager.get('local'), manager.internal)
  })

  test('gives nothing for an unknown id', async () => {
    const { manager } = await managed({ environments: [BOX], includeLocal: true })
    for (const id of ['', 'other', 'BOX', '__proto__', 'constructor']) assert.equal(manager.get(id), undefined)
  })

  test('hands runtime paths and directories on to the environments', async () => {
    const factory = new RecordingFactory()
    const runtime = { executable: '/bin/waldo', stateDir: '/state' }
    const snapshot = { environments: [{ ...BOX, cwd: '/srv' }], default: null, includeLocal: true }
    const manager = await EnvironmentManager.create({ provider: { snapshot: async () => snapshot }, factory, runtime })
    manager.upsert('late', url('ws://late'))
    assert.deepEqual(
      factory.created.map(({ id, options }) => [id, options.cwd, options.runtime]),
      [
        ['local', undefined, runtime],
        ['local', undefined, runtime],
        ['box', '/srv', runtime],
        ['late', undefined, runtime],
      ],
    )
  })

  test('asks its provider once', async () => {
    let asked = 0
    const snapshot = () => ({ ...EMPTY, environments: [BOX], default: `${++asked && 'box'}` })
    const manager = await EnvironmentManager.create({ provider: { snapshot }, factory: new RecordingFactory() })
    manager.list()
    assert.equal(manager.default?.id, 'box')
    assert.equal(asked, 1)
  })

  test('validates the whole snapshot before it creates anything', async () => {
    const cases: [Partial<EnvironmentSnapshot>, string | RegExp][] = [
      [{ environments: [BOX, { ...BOX, id: ' ' }] }, 'environment id cannot be empty'],
      [{ environments: [BOX, { ...BOX, id: '' }] }, 'environment id cannot be empty'],
      [{ environments: [BOX, { ...BOX, id: 'local' }] }, 'environment id `local` is reserved for EnvironmentManager'],
      [{ environments: [BOX, BOX] }, 'environment id `box` is duplicated'],
      [{ environments: [BOX], default: 'bax' }, 'default environment `bax` is not configured'],
      [{ environments: [BOX], default: 'local' }, 'default environment `local` is not configured'],
      [{ environments: [BOX], default: ' ' }, 'default environment id cannot be empty'],
      [{ environments: [BOX, { id: 'b', transport: url('tcp://b') }] }, /must use ws:\/\//],
      [{ environments: Array.from({ length: 257 }, (_, n) => ({ ...BOX, id: `b${n}` })) }, /no more than 256/],
    ]
    for (const [snapshot, message] of cases) {
      const factory = new RecordingFactory()
      await assert.rejects(managed(snapshot, factory), invalid(message))
      assert.deepEqual(factory.created, [])
    }
  })

  test('closes what it has created if one cannot be created', async () => {
    const factory = new RecordingFactory()
    factory.broken.add('bad')
    await assert.rejects(managed({ environments: [BOX, { ...BOX, id: 'bad' }] }, factory), /cannot create bad/)
    assert.deepEqual(
      factory.created.map(({ id, calls }) => [id, calls]),
      [
        ['local', ['close']],
        ['box', ['close']],
      ],
    )
  })

  test('closes all its environments once, and says which it could not close', async () => {
    const { manager, factory } = await managed({ environments: [BOX], includeLocal: true })
    const [, local] = factory.created
    local!.failure = new Error('stuck')
    const closing = manager.close()
    assert.equal(manager.close(), closing)
    await assert.rejects(closing, (error) => error instanceof AggregateError && error.errors[0] === local!.failure)
    assert.deepEqual(
      factory.created.map(({ calls }) => calls),
      [['close'], ['close'], ['close']],
    )
    assert.throws(
      () => manager.upsert('x', url('ws://x')),
      (error) => ExecError.is(error, 'CLOSED'),
    )
    assert.throws(
      () => manager.defer('x'),
      (error) => ExecError.is(error, 'CLOSED'),
    )
  })
})

describe('upsert', () => {
  test('adds an environment without changing the default', async () => {
    const { manager } = await managed({ includeLocal: true, default: 'local' })
    const added = manager.upsert('box', url('ws://box'))
    assert.equal(manager.get('box'), added)
    assert.equal(manager.defaultId, 'local')
    assert.deepEqual(
      manager.list().map(({ id }) => id),
      ['local', 'box'],
    )
  })

  test('replaces an environment in its place, and closes the one before', async () => {
    const { manager, factory } = await managed({ environments: [BOX, { ...BOX, id: 'b' }], default: 'box' })
    const before = factory.created[1]!
    const after = manager.upsert('box', { kind: 'command', program: 'ssh', args: [], env: {} })
    assert.notEqual(after, before)
    assert.equal(manager.default, after)
    assert.equal(manager.defaultId, 'box')
    assert.deepEqual(
      manager.list().map(({ id }) => id),
      ['box', 'b'],
    )
    await manager.close()
    assert.deepEqual(before.calls, ['close'])
  })

  test('leaves the old environment alone if the new one is refused or cannot be created', async () => {
    const { manager, factory } = await managed({ environments: [BOX] })
    const before = manager.get('box')
    assert.throws(() => manager.upsert('box', url('')), invalid('remote environment requires an exec-server url'))
    assert.throws(
      () => manager.upsert('box', url(' None')),
      invalid('remote environment cannot use disabled exec-server url'),
    )
    assert.throws(() => manager.upsert('box', url('http://x')), invalid(/must use ws:\/\//))
    assert.throws(
      () => manager.upsert('box', { kind: 'command', program: ' ', args: [], env: {} }),
      invalid('environment `box` program cannot be empty'),
    )
    factory.broken.add('box')
    assert.throws(() => manager.upsert('box', url('ws://x')), /cannot create box/)
    assert.equal(manager.get('box'), before)
    assert.equal(factory.created.length, 2)
    assert.deepEqual(factory.created[1]!.calls, [])
  })

  test('refuses an empty id and `local`', async () => {
    const { manager } = await managed({ includeLocal: true })
    assert.throws(() => manager.upsert('', url('ws://x')), invalid('environment id cannot be empty'))
    assert.throws(
      () => manager.upsert('local', url('ws://x')),
      invalid('environment id `local` is reserved for EnvironmentManager'),
    )
  })

  test('that could not close the one before is heard of when the manager is closed', async () => {
    const { manager, factory } = await managed({ environments: [BOX] })
    factory.created[1]!.failure = new Error('stuck')
    manager.upsert('box', url('ws://x'))
    await assert.rejects(
      manager.close(),
      (error) => error instanceof AggregateError && /stuck/.test(String(error.errors)),
    )
  })

  test('lets the manager be closed only after the one before is', async () => {
    const { manager, factory } = await managed({ environments: [BOX] })
    const events: string[] = []
    factory.created[1]!.held = new Promise<void>((resolve) => setTimeout(resolve, 20)).then(
      () => void events.push('box'),
    )
    manager.upsert('box', url('ws://x'))
    await manager.close()
    events.push('manager')
    assert.deepEqual(events, ['box', 'manager'])
  })

  test('goes on only so far', async () => {
    const { manager } = await managed({})
    for (let n = 0; n < MAX_ENVIRONMENTS; n++) manager.upsert(`b${n}`, url('ws://x'))
    assert.throws(() => manager.upsert('more', url('ws://x')), invalid(/no more than 256/))
    assert.throws(() => manager.defer('more'), invalid(/no more than 256/))
    assert.ok(manager.upsert('b0', url('ws://y')))
  })

  test('waits for nobody, but refuses to pile up environments that do not close', async () => {
    const { manager, factory } = await managed({})
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    for (let n = 0; n <= MAX_ENVIRONMENTS; n++) {
      manager.upsert('box', url('ws://x'))
      factory.created.at(-1)!.held = held
    }
    const refused = (error: unknown) => ExecError.is(error, 'REFUSED') && /256 .* still closing/.test(error.message)
    assert.throws(() => manager.upsert('box', url('ws://x')), refused)
    release()
    await manager.close()
  })
})
