import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patchInScript } from './patch-in-script.ts'

const PATCH = '*** Begin Patch\n*** Delete File: a\n*** End Patch\n'

test('a script that does nothing but to apply a patch is recognised', async () => {
  for (const script of [
    `apply_patch <<'E'\n${PATCH}E`,
    `apply_patch <<'E'\n${PATCH}E\n`,
    `\n applypatch <<"E"\n${PATCH}E\n\n`,
    `apply_patch <<E\n${PATCH}E\n`,
    `apply_patch << 'END_OF.PATCH-1' \n${PATCH}END_OF.PATCH-1\n`,
  ]) {
    assert.deepEqual(await patchInScript(script), { patch: PATCH }, script)
  }
})

test('so is one that changes the directory first', async () => {
  for (const [path, cd] of [
    ['a/b', 'a/b'],
    [`'a b'`, 'a b'],
    ['"a b"', 'a b'],
    ['../x', '../x'],
  ] as const) {
    assert.deepEqual(await patchInScript(`cd ${path} && apply_patch <<'E'\n${PATCH}E\n`), { patch: PATCH, cd })
  }
})

test('what is in a quoted patch is not touched', async () => {
  const patch = 'a $x `y` \\z\n\tE\n E\nE \r\n'
  assert.deepEqual(await patchInScript(`apply_patch <<'E'\n${patch}E\n`), { patch })
  assert.deepEqual(await patchInScript(`apply_patch <<'E'\nE\n`), { patch: '' })
})

test('a script that does anything else is not', async () => {
  const rest = `<<'E'\n${PATCH}E\n`
  for (const script of [
    '',
    'apply_patch',
    PATCH,
    `ls; apply_patch ${rest}`,
    `apply_patch ${rest}ls`,
    `apply_patch ${rest}# x`,
    `apply_patch x ${rest}`,
    `apply_patch <<'E' > log\n${PATCH}E\n`,
    `apply_patch <<'E' && ls\n${PATCH}E\n`,
    `apply_patch <<-'E'\n${PATCH}E\n`,
    `apply_patch <<'E'\n${PATCH}`,
    `apply_patch <<'E'\n${PATCH}E\nls\nE\n`,
    `apply_patch <<E\n$(ls)\nE\n`,
    `apply_patch <<E\na\\\nE\n`,
    `apply_patch <<<'x'`,
    `cd && apply_patch ${rest}`,
    `cd - && apply_patch ${rest}`,
    `cd -P x && apply_patch ${rest}`,
    `cd a b && apply_patch ${rest}`,
    `cd $x && apply_patch ${rest}`,
    `cd ~ && apply_patch ${rest}`,
    `cd "$x" && apply_patch ${rest}`,
    `cd '' && apply_patch ${rest}`,
    `cd a; apply_patch ${rest}`,
    `cd a || apply_patch ${rest}`,
    `cd a && cd b && apply_patch ${rest}`,
    `x=1 apply_patch ${rest}`,
    `'apply_patch' ${rest}`,
    `xapply_patch ${rest}`,
    `apply_patch <<''\n${PATCH}\n`,
  ]) {
    assert.equal(await patchInScript(script), undefined, script)
  }
})
