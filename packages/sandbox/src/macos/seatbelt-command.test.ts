import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Policy } from '../policy/bind-policy.ts'
import { at, bind, FakeHost, special } from '../policy/fixtures/fake-host.ts'
import { seatbeltCommand } from './seatbelt-command.ts'
import { seatbeltProfile } from './seatbelt-profile.ts'

describe('the command for Seatbelt', () => {
  test('names the profile, the parameters and the command, in that order', () => {
    const parameters = { PATH_0: '/a b', PATH_1: '/x=y"' }
    assert.deepEqual(seatbeltCommand({ profile: '(version 1)', parameters }, ['-p', 'x']), [
      '/usr/bin/sandbox-exec',
      '-p',
      '(version 1)',
      '-DPATH_0=/a b',
      '-DPATH_1=/x=y"',
      '--',
      '-p',
      'x',
    ])
  })
})

const skip = process.platform === 'darwin' ? false : 'Seatbelt is there on macOS only'

describe('commands under Seatbelt', () => {
  const directory = skip ? '' : realpathSync(mkdtempSync(join(tmpdir(), 'seatbelt-')))
  const policy = (): Policy => {
    const host = new FakeHost({ [`${directory}/ws`]: '/', [`${directory}/ws/secret`]: 'text' })
    const entries = [
      { path: special('root'), access: 'read' },
      { path: at(`${directory}/ws`), access: 'write' },
      { path: at(`${directory}/ws/secret`), access: 'deny' },
    ] as const
    return bind({ entries }, host)
  }
  const run = (script: string) => {
    const [program, ...args] = seatbeltCommand(seatbeltProfile(policy(), { tag: 'test' }), ['/bin/sh', '-c', script])
    return spawnSync(program!, args, { encoding: 'utf8', cwd: directory, timeout: 30_000 })
  }

  test('write where they may, and nowhere else', { skip }, () => {
    try {
      mkdirSync(join(directory, 'ws'))
      writeFileSync(join(directory, 'ws/secret'), 'TOPSECRET')
      assert.equal(run('echo x > ws/new && cat ws/new').stdout, 'x\n')
      assert.notEqual(run('echo x > outside').status, 0)
      assert.ok(!existsSync(join(directory, 'outside')))
      assert.notEqual(run('mkdir ws/.git').status, 0)
      assert.notEqual(run('mv ws elsewhere').status, 0)
      assert.doesNotMatch(
        run('cat ws/secret; ln ws/secret ws/b; cat ws/b; mv ws/secret ws/c; cat ws/c').stdout,
        /TOPSECRET/,
      )
      assert.notEqual(run('/usr/bin/nc -z -w 1 1.1.1.1 80').status, 0)
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
})
