import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ShellRequest, shellArgv } from './shell-argv.ts'

const argv = (path: string, request: Partial<ShellRequest> = {}, allowLogin = false) =>
  shellArgv(
    { cmd: 'echo hi', ...request },
    { environmentId: 'box', reported: { name: path.split('/').at(-1)!, path }, allowLogin },
  )

describe('the command line of a script', () => {
  test('has the shell that the environment has', () => {
    assert.deepEqual(argv('/bin/bash'), ['/bin/bash', '-c', 'echo hi'])
    assert.deepEqual(argv('/opt/x/zsh', {}, true), ['/opt/x/zsh', '-lc', 'echo hi'])
    assert.deepEqual(argv('/opt/x/zsh', { login: false }, true), ['/opt/x/zsh', '-c', 'echo hi'])
    assert.deepEqual(argv('/usr/bin/fish'), ['/usr/bin/fish', '-c', 'echo hi'])
    assert.deepEqual(argv('/usr/bin/pwsh'), ['/usr/bin/pwsh', '-NoProfile', '-Command', 'echo hi'])
    assert.deepEqual(argv('/usr/bin/pwsh', {}, true), ['/usr/bin/pwsh', '-Command', 'echo hi'])
    assert.deepEqual(argv('C:\\Windows\\cmd.exe'), ['C:\\Windows\\cmd.exe', '/c', 'echo hi'])
  })

  test('refuses another shell, and a login where there is none', () => {
    assert.deepEqual(argv('/bin/bash', { shell: '/elsewhere/bash' }), ['/bin/bash', '-c', 'echo hi'])
    assert.deepEqual(argv('/bin/bash', { shell: '' }), ['/bin/bash', '-c', 'echo hi'])
    assert.throws(() => argv('/bin/bash', { shell: 'zsh' }), { message: 'environment `box` only supports `bash`' })
    assert.throws(() => argv('/bin/bash', { shell: 'constructor' }), { name: 'InvalidCall' })
    assert.throws(() => argv('/bin/bash', { login: true }), {
      message: 'login shell is disabled by config; omit `login` or set it to false.',
    })
  })

  test('takes every name of the shell that there is', () => {
    for (const [path, shell] of [
      ['/bin/dash', 'dash'],
      ['/bin/bash', 'BASH.exe'],
      ['/usr/bin/fish', '/elsewhere/fish'],
    ] as const) {
      assert.equal(argv(path, { shell })[0], path)
    }
    assert.throws(() => argv('/bin/dash', { shell: 'sh' }), { message: 'environment `box` only supports `dash`' })
  })
})
