import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '../errors.ts'
import { EnvironmentManager } from '../manager/environment-manager.ts'
import { RecordingFactory } from '../manager/recording-factory.ts'
import type { EnvironmentChoice, EnvironmentSelection } from './environment-selection.ts'
import { StickySelection } from './sticky-selection.ts'

async function conversation(environments?: readonly EnvironmentChoice[] | null, defaultId: string | null = 'a') {
  const factory = new RecordingFactory()
  const transport = { kind: 'url', url: 'ws://x' } as const
  const snapshot = {
    environments: ['a', 'b', 'c'].map((id) => ({ id, transport })),
    default: defaultId,
    includeLocal: true,
  }
  const known = await EnvironmentManager.create({ provider: { snapshot: () => snapshot }, factory })
  const selection = new StickySelection(known, { environments, cwd: '/work' })
  return { selection, factory, known }
}

const at = (environmentId: string, cwd: string) => ({ environmentId, cwd })
const places = (selection: EnvironmentSelection) => selection.map(({ environmentId, cwd }) => `${environmentId} ${cwd}`)
const STICKY = [at('b', '/b'), at('c', 'C:\\c')]
const STICKY_PLACES = ['b file:///b', 'c file:///C:/c']

const invalid = (message: string) => (error: unknown) =>
  ExecError.is(error, 'SELECTION_INVALID') && error.message === message

describe('a conversation', () => {
  test('works in the default environment, and only there, if it chooses none', async () => {
    for (const environments of [undefined, null]) {
      const { selection } = await conversation(environments)
      assert.deepEqual(selection.current, [
        {
          environmentId: 'a',
          cwd: 'file:///work',
          workspaceRoots: ['file:///work'],
          capabilities: { exec: true, files: true, http: true },
        },
      ])
    }
  })

  test('works nowhere if there is no default, or if it chooses so', async () => {
    assert.deepEqual((await conversation(undefined, null)).selection.forTurn(), [])
    assert.deepEqual((await conversation([])).selection.forTurn(), [])
  })

  test('keeps what it chooses, in its order', async () => {
    const { selection } = await conversation(STICKY)
    assert.deepEqual(places(selection.forTurn()), STICKY_PLACES)
    assert.deepEqual(places(selection.forTurn({ environments: null, cwd: null })), STICKY_PLACES)
  })

  test('keeps workspace roots and limits of what may be done', async () => {
    const { selection } = await conversation([
      { ...at('a', '/x'), workspaceRoots: ['/r', 'D:\\r'], capabilities: { exec: false } },
    ])
    assert.deepEqual(selection.current[0]?.workspaceRoots, ['file:///r', 'file:///D:/r'])
    assert.deepEqual(selection.current[0]?.capabilities, { exec: false, files: true, http: true })
  })

  test('cannot start with an environment that is unknown, named twice or nowhere', async () => {
    await assert.rejects(conversation([at('x', '/')]), invalid('unknown turn environment id `x`'))
    await assert.rejects(conversation([at('', '/')]), invalid('unknown turn environment id ``'))
    await assert.rejects(conversation([at('a', '/'), at('a', '/b')]), invalid('duplicate turn environment id `a`'))
    await assert.rejects(conversation([at('a', 'here')]), /is not absolute/)
    const workspaceRoots = Array.from({ length: 257 }, (_, n) => `/${n}`)
    await assert.rejects(conversation([{ ...at('a', '/'), workspaceRoots }]), /257 workspace roots; 256 are allowed/)
  })

  test('connects to nothing by choosing', async () => {
    const { factory, selection } = await conversation(STICKY)
    selection.forTurn({ cwd: '/elsewhere' })
    assert.deepEqual(
      factory.created.flatMap(({ calls }) => calls),
      [],
    )
  })
})

describe('a turn', () => {
  test('may work elsewhere or nowhere, for itself only', async () => {
    const { selection } = await conversation(STICKY)
    assert.deepEqual(places(selection.forTurn({ environments: [at('a', '/a')] })), ['a file:///a'])
    assert.deepEqual(selection.forTurn({ environments: [] }), [])
    assert.deepEqual(places(selection.forTurn()), STICKY_PLACES)
  })

  test('may choose for all turns to come', async () => {
    const { selection } = await conversation(STICKY)
    selection.forTurn({ environments: [at('a', '/a')], persist: true })
    assert.deepEqual(places(selection.forTurn()), ['a file:///a'])
    selection.forTurn({ cwd: '/b', persist: true })
    assert.deepEqual(places(selection.forTurn()), ['a file:///b'])
    selection.forTurn({ environments: [], persist: true })
    assert.deepEqual(selection.forTurn(), [])
  })

  test('that names only a directory moves the primary environment and no other', async () => {
    const { selection } = await conversation(STICKY)
    assert.deepEqual(places(selection.forTurn({ cwd: '/other' })), ['b file:///other', 'c file:///C:/c'])
    assert.deepEqual(places(selection.forTurn()), STICKY_PLACES)
    assert.deepEqual((await conversation([])).selection.forTurn({ cwd: '/other' }), [])
  })

  test('that names only a directory moves the one that is primary while the first has failed', async () => {
    const { selection, factory } = await conversation(STICKY)
    const first = factory.created.find(({ id }) => id === 'b')!
    first.status = { state: 'failed', error: new ExecError('CONNECT_FAILED', 'nobody there') }
    assert.deepEqual(places(selection.forTurn({ cwd: '/other' })), ['b file:///b', 'c file:///other'])
  })

  test('that moves takes along the workspace root it was in, and leaves the others', async () => {
    const { selection } = await conversation([{ ...at('a', '/old'), workspaceRoots: ['/data', '/old'] }])
    assert.deepEqual(selection.forTurn({ cwd: '/new' })[0]?.workspaceRoots, ['file:///data', 'file:///new'])
  })

  test('that names environments is not moved by a directory besides', async () => {
    const { selection } = await conversation(STICKY)
    assert.deepEqual(places(selection.forTurn({ environments: [at('a', '/a')], cwd: '/other' })), ['a file:///a'])
  })

  test('that makes no sense changes nothing', async () => {
    const { selection } = await conversation(STICKY)
    const persist = true
    assert.throws(
      () => selection.forTurn({ environments: [at('x', '/')], persist }),
      invalid('unknown turn environment id `x`'),
    )
    assert.throws(
      () => selection.forTurn({ environments: [at('a', '/'), at('a', '/')], persist }),
      invalid('duplicate turn environment id `a`'),
    )
    assert.throws(() => selection.forTurn({ cwd: 'here', persist }), /is not absolute/)
    assert.deepEqual(places(selection.forTurn()), STICKY_PLACES)
  })
})
