import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ShellFamily } from '../unified-exec/shell-argv.ts'
import { patchInCommand } from './patch-in-command.ts'

const PATCH = '*** Begin Patch\n*** Add File: f\n+x\n*** End Patch'
const trimmed = async (cmd: string, family: ShellFamily = 'posix') => {
  const found = await patchInCommand(cmd, family)
  return found && { ...found, patch: found.patch.replace(/\n$/, '') }
}

describe('a command is a patch', () => {
  const taken: [string, ShellFamily][] = [
    [`apply_patch <<'EOF'\n${PATCH}\nEOF`, 'posix'],
    [`apply_patch '${PATCH}'`, 'posix'],
    [`applypatch "${PATCH}"\n`, 'posix'],
    [`apply_patch <<'EOF'\n${PATCH}\nEOF`, 'powershell'],
    [`apply_patch @'\n${PATCH}\n'@`, 'powershell'],
    [`apply_patch <<EOF\r\n${PATCH.replaceAll('\n', '\r\n')}\r\nEOF\r\n`, 'cmd'],
  ]
  for (const [cmd, family] of taken) {
    test(`${family}: ${cmd.split(/\r?\n/)[0]}`, async () => {
      assert.deepEqual(await trimmed(cmd, family), { patch: PATCH })
    })
  }

  test('in another directory', async () => {
    for (const cd of ['some/dir', "'some dir'", '"some dir"']) {
      const there = { patch: PATCH, cd: cd.replaceAll(/['"]/g, '') }
      assert.deepEqual(await trimmed(`cd ${cd} && apply_patch @'\n${PATCH}\n'@`, 'powershell'), there)
      assert.deepEqual(await trimmed(`cd ${cd} && apply_patch <<'X'\n${PATCH}\nX`), there)
    }
  })
})

describe('a command is no patch', () => {
  const left: [string, ShellFamily][] = [
    ['', 'posix'],
    ['apply_patch', 'posix'],
    ['apply_patch f', 'posix'],
    [`apply_patch '${PATCH}' more`, 'posix'],
    [`apply_patch '${PATCH}'; rm x`, 'posix'],
    [`apply_patch "${PATCH} $(id)"`, 'posix'],
    [`git apply '${PATCH}'`, 'posix'],
    [`apply_patch <<'X'\n${PATCH}\nX\nrm x`, 'posix'],
    [`apply_patch @'\n${PATCH}\n'@; rm x`, 'powershell'],
    [`rm x; apply_patch @'\n${PATCH}\n'@`, 'powershell'],
    [`apply_patch @"\n${PATCH}\n"@`, 'powershell'],
    [`apply_patch @'\n${PATCH}\n'@\nrm x\n'@`, 'powershell'],
    [`cd %HOME% && apply_patch <<EOF\n${PATCH}\nEOF`, 'cmd'],
    [`cd "$x" && apply_patch <<EOF\n${PATCH}\nEOF`, 'cmd'],
    [`cd a b && apply_patch <<EOF\n${PATCH}\nEOF`, 'cmd'],
  ]
  for (const [cmd, family] of left) {
    test(`${family}: ${cmd.split(/\r?\n/).join('⏎')}`, async () => assert.equal(await trimmed(cmd, family), undefined))
  }
})

test('a patch without a command is refused', async () => {
  for (const cmd of [PATCH, `\n${PATCH}`]) {
    await assert.rejects(patchInCommand(cmd, 'posix'), /without explicit call to apply_patch: call the tool/)
  }
})
