import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { openEnvironments } from '@waldo/sdk'
import { fails } from './collect.ts'
import { startExecutor } from './executors.ts'
import { scratch, WALDO } from './scratch.ts'

const restricted = {
  permissions: { type: 'managed', file_system: { type: 'restricted', entries: [] } },
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

  test('a file access with a sandbox is refused where there is none, and the message says so', async () => {
    using dir = scratch()
    const runtime = { executable: WALDO, stateDir: dir.at('state') }
    await using environments = await openEnvironments({ configDir: dir.path, env: {}, runtime })
    const reading = environments.internal.files.readFile('/etc/hostname', { sandbox: restricted as never })
    assert.match((await fails(reading, 'FILE_INVALID')).message, /sandbox cannot be enforced on this executor/)
  })
})
