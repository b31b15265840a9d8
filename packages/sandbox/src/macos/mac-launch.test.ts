import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Command } from '../linux/launch.ts'
import { MacLaunch } from './mac-launch.ts'

const directory = mkdtempSync(join(tmpdir(), 'waldo-launch-'))
after(() => rmSync(directory, { recursive: true }))

/** Runs what comes after `sandbox-exec`, which there is on every system. */
function run(given: Partial<Command>) {
  const command = { program: '/bin/sh', args: [], arg0: undefined, cwd: directory, env: {}, ...given }
  const wrapping = { outside: (argv: readonly string[]) => argv, inside: (argv: readonly string[]) => argv }
  const { argv, env, cwd } = new MacLaunch(command, { profile: '(version 1)', parameters: {} }, wrapping)
  const [program, ...args] = argv.slice(argv.indexOf('--') + 1)
  return spawnSync(program!, args, { env, cwd, encoding: 'utf8', timeout: 10_000 })
}

describe('what a launch runs in the sandbox', () => {
  test('has the variables that were asked for, whatever they are called, and no others', () => {
    const env = { A: 'b c', '-i': '1', 'a.b': '', DYLD_INSERT_LIBRARIES: '/x', N: 'two\nlines', '$(x)': '"' }
    const { stdout, stderr } = run({ program: '/usr/bin/env', args: [], env })
    assert.equal(stderr, '')
    const expected = Object.entries(env).map(([name, value]) => `${name}=${value}\n`)
    assert.deepEqual(stdout.split('\n').sort(), expected.join('').split('\n').sort())
  })

  test('is called what it is to be called', () => {
    const args = ['-c', 'echo "$0"']
    assert.equal(run({ args }).stdout, '/bin/sh\n')
    assert.equal(run({ args, arg0: '-login' }).stdout, '-login\n')
  })

  test('is not taken for a variable if there is a = in its path', () => {
    const program = join(directory, 'a=b')
    symlinkSync('/bin/sh', program)
    const { stdout, stderr } = run({ program, args: ['-c', 'echo "$0" "$@" $A', 'x', '=y'], env: { A: '1' } })
    assert.equal(stdout, 'x =y 1\n', stderr)
  })
})
