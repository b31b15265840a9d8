import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { openEnvironments } from '@waldo/sdk'
import { fails } from './collect.ts'
import { startExecutor } from './executors.ts'
import { scratch, WALDO } from './scratch.ts'

/** Nothing may be seen. */
const sandbox = {
  permissions: { type: 'managed', file_system: { type: 'restricted', entries: [] }, network: 'restricted' },
  windowsSandboxLevel: 'disabled',
} as const

describe('the environments that a user has configured', () => {
  test('a command runs in the default one: this machine, if nothing else is said', async () => {
    using dir = scratch()
    const runtime = { executable: WALDO, stateDir: dir.at('state') }
    await using environments = await openEnvironments({ configDir: dir.path, env: {}, runtime })
    assert.equal(environments.default?.status.state, 'idle')
    const command = await environments.default!.processes.start(['sh', '-c', 'echo here'])
    assert.equal(await command.text(), 'here\n')
    assert.equal(environments.default, environments.get('local'))
    assert.notEqual(environments.internal, environments.get('local'))
    assert.equal(environments.get('remote'), undefined)
  })

  test('by a variable or by a file it is another, and this machine stays beside it', async () => {
    await using executor = await startExecutor()
    using dir = scratch()
    const runtime = { executable: WALDO, stateDir: dir.at('state') }
    const settings = { configDir: dir.path, runtime }
    await using byVariable = await openEnvironments({ ...settings, env: { CODEX_EXEC_SERVER_URL: executor.url } })
    assert.equal(byVariable.defaultId, 'remote')
    assert.equal(byVariable.get('local')?.status.state, 'idle')
    writeFileSync(
      dir.at('environments.toml'),
      `default = "box"\n[[environments]]\nid = "box"\nurl = "${executor.url}"\ncwd = "/usr"\n`,
    )
    await using byFile = await openEnvironments({ ...settings, env: {} })
    for (const environment of [byVariable.default!, byFile.default!]) {
      const command = await environment.processes.start(['pwd'])
      assert.match(await command.text(), /^\/(usr)?\n$/)
    }
    assert.equal(await (await byFile.default!.processes.start(['pwd'])).text(), '/usr\n')
  })

  test('a file access with a sandbox is never made without one, by the program itself neither', async () => {
    using dir = scratch()
    const runtime = { executable: WALDO, stateDir: dir.at('state') }
    await using environments = await openEnvironments({ configDir: dir.path, env: {}, runtime })
    for (const { files } of [environments.internal, environments.default!]) {
      await fails(files.readFile('/etc/hostname', { sandbox }), 'FILE_NOT_FOUND', 'FILE_DENIED', 'SANDBOX_UNAVAILABLE')
    }
  })
})
