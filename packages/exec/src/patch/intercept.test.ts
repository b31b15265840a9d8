import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { interceptPatch, type PatchInScript } from './intercept.ts'

const PATCH = '*** Begin Patch\n*** Add File: f\n+x\n*** End Patch'
/** Takes one script for a patch. */
const scripts: PatchInScript = async (script) => (script === 'the script' ? { patch: PATCH, cd: 'd' } : undefined)
const intercept = (...argv: readonly string[]) => interceptPatch(argv, scripts)

describe('a command is a patch', () => {
  const taken: readonly (readonly string[])[] = [
    ['apply_patch', PATCH],
    ['applypatch', PATCH],
    ['pwsh', '-Command', `apply_patch <<'EOF'\n${PATCH}\nEOF`],
    ['powershell.exe', '-NoProfile', '-Command', `apply_patch @'\n${PATCH}\n'@`],
    ['cmd', '/c', `apply_patch <<EOF\r\n${PATCH.replaceAll('\n', '\r\n')}\r\nEOF\r\n`],
  ]
  for (const argv of taken) {
    test(argv.map((word) => word.split(/\r?\n/)[0]).join(' '), async () => {
      assert.deepEqual(await intercept(...argv), { patch: PATCH })
    })
  }

  for (const shell of ['bash', '/bin/zsh', 'sh']) {
    for (const flag of ['-c', '-lc']) {
      test(`${shell} ${flag}, if the script is nothing else`, async () => {
        assert.deepEqual(await intercept(shell, flag, 'the script'), { patch: PATCH, cd: 'd' })
        assert.equal(await intercept(shell, flag, 'another script'), undefined)
      })
    }
  }

  test('in another directory', async () => {
    for (const cd of ['some/dir', "'some dir'", '"some dir"']) {
      const found = await intercept('pwsh', '-Command', `cd ${cd} && apply_patch @'\n${PATCH}\n'@`)
      assert.deepEqual(found, { patch: PATCH, cd: cd.replaceAll(/['"]/g, '') })
    }
  })
})

describe('a command is no patch', () => {
  const left: readonly (readonly string[])[] = [
    [],
    ['apply_patch'],
    ['apply_patch', PATCH, 'more'],
    ['git', 'apply', PATCH],
    ['bash', '-x', '-c', 'the script'],
    ['bash', '-c', 'the script', 'name'],
    ['fish', '-c', 'the script'],
    ['pwsh', '-File', `apply_patch @'\n${PATCH}\n'@`],
    ['pwsh', '-Command', `apply_patch @'\n${PATCH}\n'@; rm x`],
    ['pwsh', '-Command', `rm x; apply_patch @'\n${PATCH}\n'@`],
    ['pwsh', '-Command', `apply_patch @"\n${PATCH}\n"@`],
    ['pwsh', '-Command', `apply_patch @'\n${PATCH}\n'@\nrm x\n'@`],
    ['cmd', '/c', `cd %HOME% && apply_patch <<EOF\n${PATCH}\nEOF`],
    ['cmd', '/c', `cd "$x" && apply_patch <<EOF\n${PATCH}\nEOF`],
    ['cmd', '/c', `cd a b && apply_patch <<EOF\n${PATCH}\nEOF`],
  ]
  for (const argv of left) {
    test(`${argv.map((word) => word.split(/\r?\n/).join('⏎')).join(' ')}`, async () => {
      assert.equal(await intercept(...argv), undefined)
    })
  }
})

describe('a patch without a command is refused', () => {
  for (const argv of [[PATCH], [`\n${PATCH}`], ['bash', '-lc', PATCH], ['pwsh', '-Command', `\n\n${PATCH}\n`]]) {
    test(`${argv.length} words`, async () => {
      await assert.rejects(
        intercept(...argv),
        /patch detected without explicit call to apply_patch\. Rerun as \["apply_patch", "<patch>"\]/,
      )
    })
  }
})
