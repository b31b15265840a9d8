import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '../errors.ts'
import { EnvironmentManager } from '../manager/environment-manager.ts'
import { RecordingFactory } from '../manager/recording-factory.ts'
import type { EnvironmentCapabilities } from './environment-selection.ts'
import { ReadyEnvironments } from './ready-environments.ts'
import { StickySelection } from './sticky-selection.ts'
import { offeredTools, requireTool, type Tool } from './tools.ts'

type Wish = { can?: Partial<EnvironmentCapabilities>; fails?: true }

/** A turn in the environments that are given, in their order. */
async function turn(wishes: Record<string, Wish>) {
  const factory = new RecordingFactory()
  const ids = Object.keys(wishes)
  const environments = ids.map((id) => ({ id, transport: { kind: 'url', url: 'ws://x' } as const }))
  const provider = { snapshot: () => ({ environments, default: null, includeLocal: false }) }
  const known = await EnvironmentManager.create({ provider, factory })
  const choices = ids.map((id) => ({ environmentId: id, cwd: '/', capabilities: wishes[id]!.can }))
  for (const environment of factory.created) {
    if (wishes[environment.id]?.fails) environment.failure = new ExecError('CONNECT_FAILED', 'nobody there')
  }
  const { current } = new StickySelection(known, { environments: choices, cwd: '/' })
  return { ready: await ReadyEnvironments.connect(current, known), known, factory, current }
}

const ALL: Tool[] = ['exec_command', 'write_stdin', 'apply_patch', 'view_image', 'list_dir', 'http']
const NOTHING = { exec: false, files: false, http: false }
const unsupported = (message: string) => (error: unknown) =>
  ExecError.is(error, 'UNSUPPORTED') && error.message === message

describe('the environments of a turn', () => {
  test('are connected, and the first that is ready is primary', async () => {
    const { ready } = await turn({ a: { fails: true }, b: {}, c: {} })
    assert.equal(ready.primary?.environmentId, 'b')
    assert.deepEqual(
      ready.ready.map(({ environmentId }) => environmentId),
      ['b', 'c'],
    )
    assert.deepEqual(
      ready.unavailable.map(({ environmentId, error }) => [environmentId, String(error)]),
      [['a', 'ExecError: nobody there']],
    )
  })

  test('stay what they are while a connection is lost and recovered', async () => {
    const { ready, known, factory, current } = await turn({ a: {}, b: {} })
    const a = factory.created.find(({ id }) => id === 'a')!
    a.status = { state: 'recovering', since: new Date(), error: new ExecError('DISCONNECTED', 'cut') }
    assert.equal(ready.primary?.environment, a)
    const next = await ReadyEnvironments.connect(current, known)
    assert.equal(next.primary?.environment, a)
    assert.deepEqual(a.calls, ['ready'])
  })

  test('do not include one that is still being provisioned when the wait is given up', async () => {
    const { known } = await turn({ a: {} })
    const manager = known
    const { environment } = manager.defer('late')
    const selection = new StickySelection(manager, {
      environments: ['late', 'a'].map((environmentId) => ({ environmentId, cwd: '/' })),
      cwd: '/',
    }).current
    const ready = await ReadyEnvironments.connect(selection, manager, { signal: AbortSignal.timeout(1) })
    assert.equal(ready.primary?.environmentId, 'a')
    assert.deepEqual(
      ready.unavailable.map(({ environmentId }) => environmentId),
      ['late'],
    )
    assert.equal(environment.status.state, 'connecting')
  })

  test('are chosen by name, or the primary is', async () => {
    const { ready } = await turn({ a: { fails: true }, b: {}, c: {} })
    assert.equal(ready.choose()?.environmentId, 'b')
    assert.equal(ready.choose(null)?.environmentId, 'b')
    assert.equal(ready.choose('c')?.environmentId, 'c')
    for (const id of ['a', 'x', '']) {
      assert.throws(
        () => ready.choose(id),
        (error) =>
          ExecError.is(error, 'SELECTION_INVALID') && error.message === `unknown turn environment id \`${id}\``,
      )
    }
    assert.equal((await turn({})).ready.choose(), undefined)
  })
})

describe('tools', () => {
  test('are offered as the environments allow, each for itself', async () => {
    const cases: [Record<string, Wish>, Tool[]][] = [
      [{ a: {} }, ALL],
      [{}, []],
      [{ a: { fails: true } }, []],
      [{ a: { can: { exec: false } } }, ['apply_patch', 'view_image', 'list_dir', 'http']],
      [{ a: { can: { files: false } } }, ['exec_command', 'write_stdin', 'http']],
      [{ a: { can: { ...NOTHING, http: true } } }, ['http']],
      [{ a: { can: NOTHING } }, []],
      [{ a: { can: NOTHING }, b: { can: { ...NOTHING, files: true } } }, ['apply_patch', 'view_image', 'list_dir']],
    ]
    for (const [wishes, tools] of cases) assert.deepEqual(offeredTools((await turn(wishes)).ready), tools)
  })

  test('let a process be written to while it is alive, whatever is selected', async () => {
    const { ready } = await turn({})
    assert.deepEqual(offeredTools(ready, { processAlive: true }), ['write_stdin'])
    requireTool(ready, 'write_stdin', { processAlive: true })
    assert.throws(() => requireTool(ready, 'write_stdin'), unsupported('unified exec is unavailable in this session'))
    assert.throws(() => requireTool(ready, 'exec_command', { processAlive: true }), ExecError)
  })

  test('that were not offered are refused', async () => {
    const texts: Record<Tool, string> = {
      exec_command: 'unified exec is unavailable in this session',
      write_stdin: 'unified exec is unavailable in this session',
      apply_patch: 'apply_patch is unavailable in this session',
      view_image: 'view_image is unavailable in this session',
      list_dir: 'list_dir is unavailable in this session',
      http: 'http is unavailable in this session',
    }
    for (const wishes of [{}, { a: { can: NOTHING } }]) {
      const { ready } = await turn(wishes)
      for (const tool of ALL) assert.throws(() => requireTool(ready, tool), unsupported(texts[tool]))
    }
    const { ready } = await turn({ a: {} })
    for (const tool of ALL) requireTool(ready, tool)
  })

  test('are for the first environment that allows them, and refused in one that does not', async () => {
    const { ready } = await turn({ a: { can: { exec: false } }, b: {} })
    for (const environmentId of ['b', null, undefined]) {
      assert.equal(requireTool(ready, 'exec_command', { environmentId }).environmentId, 'b')
    }
    assert.equal(requireTool(ready, 'apply_patch').environmentId, 'a')
    assert.equal(requireTool(ready, 'write_stdin'), undefined)
    assert.throws(
      () => requireTool(ready, 'exec_command', { environmentId: 'a' }),
      unsupported('unified exec is unavailable in environment `a`; it is available in `b`'),
    )
    assert.throws(() => requireTool(ready, 'exec_command', { environmentId: 'x' }), /unknown turn environment id `x`/)
  })
})
