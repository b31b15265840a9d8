import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '../errors.ts'
import { EnvironmentManager } from './environment-manager.ts'
import { RecordingFactory } from './recording-factory.ts'
import { UrlVariableProvider } from './url-variable-provider.ts'

const url = (text: string) => ({ kind: 'url', url: text }) as const
const invalid = (message: RegExp) => (error: unknown) =>
  ExecError.is(error, 'CONFIG_INVALID') && message.test(error.message)

async function fromVariable(value: string | undefined) {
  const factory = new RecordingFactory()
  const provider = new UrlVariableProvider({ WALDO_EXEC_SERVER_URL: value })
  return { manager: await EnvironmentManager.create({ provider, factory }), factory }
}

describe('the URL variable', () => {
  test('unset or blank makes `local` the default', async () => {
    for (const value of [undefined, '', ' \t']) {
      const { manager } = await fromVariable(value)
      assert.equal(manager.defaultId, 'local')
      assert.equal(manager.default, manager.get('local'))
      assert.equal(manager.get('remote'), undefined)
    }
  })

  test('`none` has no default, finds `local` by name and nothing under `remote`', async () => {
    for (const value of ['none', 'None ']) {
      const { manager } = await fromVariable(value)
      assert.equal(manager.default, undefined)
      assert.equal(manager.defaultId, undefined)
      assert.equal(manager.get('local')?.id, 'local')
      assert.equal(manager.get('remote'), undefined)
    }
  })

  test('a URL makes `remote` the default with `local` beside it, each the same object every time', async () => {
    const { manager, factory } = await fromVariable('ws://box:1')
    const remote = manager.get('remote')
    assert.ok(remote)
    assert.equal(manager.defaultId, 'remote')
    assert.equal(manager.default, remote)
    assert.equal(manager.get('remote'), remote)
    assert.equal(manager.get('remote')?.files, remote.files)
    assert.equal(manager.get('local'), manager.get('local'))
    assert.deepEqual(factory.created.find(({ id }) => id === 'remote')?.transport, url('ws://box:1'))
    assert.deepEqual(
      manager.list().map(({ id, isDefault }) => ({ id, isDefault })),
      [
        { id: 'remote', isDefault: true },
        { id: 'local', isDefault: false },
      ],
    )
  })

  test('ours comes before the one of codex, and a blank one counts for nothing', async () => {
    const of = (env: Record<string, string>) => new UrlVariableProvider(env).snapshot().environments[0]?.transport
    assert.deepEqual(of({ WALDO_EXEC_SERVER_URL: 'ws://a', CODEX_EXEC_SERVER_URL: 'ws://b' }), url('ws://a'))
    assert.deepEqual(of({ WALDO_EXEC_SERVER_URL: ' ', CODEX_EXEC_SERVER_URL: 'ws://b' }), url('ws://b'))
  })

  test('with a URL that is none is an error that names the variable', async () => {
    await assert.rejects(fromVariable('host:80'), invalid(/^WALDO_EXEC_SERVER_URL: environment url `host:80` must use/))
  })
})
