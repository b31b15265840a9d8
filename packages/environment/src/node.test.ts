import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { ExecError } from './errors.ts'
import { configDirectory, environmentsFrom } from './node.ts'

async function inDirectory(run: (directory: string, file: string) => Promise<void>) {
  const directory = mkdtempSync(join(tmpdir(), 'waldo-config-'))
  try {
    await run(directory, join(directory, 'environments.toml'))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const unreadable = (file: string, reason: RegExp) => (error: unknown) =>
  ExecError.is(error, 'CONFIG_INVALID') &&
  error.message.startsWith(`failed to read environment config \`${file}\`: `) &&
  reason.test(error.message)

describe('the configuration directory', () => {
  test('is the one that is named, else that of a variable, else below the home directory', () => {
    const env = { WALDO_HOME: '/w', XDG_CONFIG_HOME: '/x', HOME: '/h', CODEX_HOME: '/c' }
    assert.equal(configDirectory({ configDir: '/d', env }), '/d')
    assert.equal(configDirectory({ configDir: 'here', env }), resolve('here'))
    assert.equal(configDirectory({ env }), '/w')
    assert.equal(configDirectory({ env: { ...env, WALDO_HOME: '' } }), '/x/waldo')
    assert.equal(configDirectory({ env: { XDG_CONFIG_HOME: 'relative', HOME: '/h' } }), '/h/.config/waldo')
    assert.equal(configDirectory({ env: {} }), join(homedir(), '.config/waldo'))
  })
})

describe('the configured environments', () => {
  test('are those of the file if there is one, whatever the variables say', async () => {
    await inDirectory(async (configDir, file) => {
      writeFileSync(file, '[[environments]]\nid = "box"\nprogram = "ssh"\ncwd = "sub"\n')
      const provider = await environmentsFrom({ configDir, env: { WALDO_EXEC_SERVER_URL: 'ws://x' } })
      const [box] = (await provider.snapshot()).environments
      assert.ok(box?.transport.kind === 'command')
      assert.equal(box.transport.cwd, join(configDir, 'sub'))
    })
  })

  test('are those of the variables if there is no file, or no directory', async () => {
    await inDirectory(async (directory) => {
      for (const configDir of [directory, join(directory, 'missing')]) {
        const provider = await environmentsFrom({ configDir, env: { CODEX_EXEC_SERVER_URL: 'ws://x' } })
        assert.equal((await provider.snapshot()).default, 'remote')
      }
    })
  })

  test('are not those of codex unless its directory is named', async () => {
    await inDirectory(async (directory, file) => {
      writeFileSync(file, 'default = "none"')
      const env = { CODEX_HOME: directory, HOME: join(directory, 'home') }
      assert.equal((await (await environmentsFrom({ env })).snapshot()).default, 'local')
      assert.equal((await (await environmentsFrom({ env, configDir: directory })).snapshot()).default, null)
    })
  })

  test('cannot come from a file that is not one, is too large or no text', async () => {
    await inDirectory(async (configDir, file) => {
      mkdirSync(file)
      await assert.rejects(environmentsFrom({ configDir, env: {} }), unreadable(file, /not a file/))
      rmSync(file, { recursive: true })
      execFileSync('mkfifo', [file])
      await assert.rejects(environmentsFrom({ configDir, env: {} }), unreadable(file, /not a file/))
      rmSync(file)
      writeFileSync(file, '#'.repeat(1024 * 1024 + 1))
      await assert.rejects(environmentsFrom({ configDir, env: {} }), unreadable(file, /larger than 1048576 bytes/))
      writeFileSync(file, Uint8Array.of(0x23, 0xff))
      await assert.rejects(environmentsFrom({ configDir, env: {} }), unreadable(file, /./))
      await assert.rejects(
        environmentsFrom({ configDir: file, env: {} }),
        unreadable(join(file, 'environments.toml'), /ENOTDIR/),
      )
      writeFileSync(file, '#'.repeat(1024 * 1024))
      assert.equal((await (await environmentsFrom({ configDir, env: {} })).snapshot()).default, 'local')
    })
  })
})
