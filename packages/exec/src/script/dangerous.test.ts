import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grammarFiles } from '../node/bash-grammar.ts'
import { findDanger } from './dangerous.ts'
import { ScriptParser } from './script-parser.ts'

const parser = new ScriptParser(grammarFiles)
const reason = async (argv: readonly string[]) => findDanger(await parser.commandLine(argv))?.text
const reasonOf = (script: string) => reason(['bash', '-lc', script])

test('removing by force is dangerous, however it is written', async () => {
  for (const script of [
    'rm -f x',
    'rm -rf x',
    'rm -vrf x',
    'rm x -f',
    'rm --force x',
    'rm --forc x',
    '/bin/rm -f x',
    'ls && rm -f x',
    'ls | rm -f',
    'FOO=1 rm -f x',
    'rm > log -f x',
    'sudo rm -f x',
    'sudo -u root -n rm -f x',
    'sudo -u "$USER" rm -f x',
    'env rm -f x',
    'env -i A=1 -- rm -f x',
    'sudo env A=1 rm -f x',
    'command rm -f x',
    'xargs rm -f',
    'find . -exec rm -f {} +',
    `trap 'rm -f x' EXIT`,
    `bash -c 'rm -f x'`,
    `sudo bash -c 'rm -f x'`,
    `bash -c "sh -c 'rm -f x'"`,
    `eval 'rm -f x'`,
    'if x; then rm -f "$y"; fi',
    'ls $(rm -f x)',
    'rm -rf "$x"',
    'rm -rf$x y',
    '\\rm -f x',
    `'rm' -f x`,
    '$SUDO rm -f x',
    `bash <<'E'\nrm -f x\nE\n`,
    'flock lock rm -rf x',
    'strace rm -f x',
    'setpriv --reuid 1 rm -f x',
    'taskset 1 rm -f x',
    `script -c 'rm -f x' log`,
    `flock lock -c 'rm -f x'`,
    `watch 'rm -f x'`,
    `fish -c 'rm -f x'`,
    `echo 'rm -f x' | sh`,
    `printf 'rm\\t-f x' | bash -s`,
    `cat <<'E' | sh\nrm -f x\nE\n`,
  ]) {
    assert.match((await reasonOf(script)) ?? 'harmless', /by force/, script)
  }
  assert.match((await reason(['rm', '-rf', 'x'])) ?? '', /`rm -rf x`/)
  assert.match((await reason(['bash', '-x', '-c', 'rm -rf x'])) ?? '', /by force/)
})

test('what only looks like it is not', async () => {
  for (const script of [
    'rm x',
    'rm -r x',
    'rm -- -f',
    'rm -i x',
    'git rm -f x',
    'ls -f',
    'echo rm -f x',
    `echo 'rm -f x'`,
    `grep 'rm -rf' x`,
    `cat <<'E'\nrm -f x\nE\n`,
    'ls # rm -f x',
    'rmdir -f x',
    'docker run --rm -f x',
    `echo 'rm -f x' | cat`,
    `echo 'rm -f x' | sh count-lines.sh`,
    `echo 'rm -f x'; ls | sh`,
    'curl https://example.com | sh',
  ]) {
    assert.equal(await reasonOf(script), undefined, script)
  }
})

test('a command is shown as it would be typed, however long it is', async () => {
  assert.equal(await reason(['rm', '-f', 'a b']), "it removes files by force: `rm -f 'a b'`")
  const long = await reason(['rm', '-f', '\u{1f600}'.repeat(1000)])
  assert.ok(long !== undefined && long.length < 300 && long.isWellFormed(), long ?? 'nothing found')
})

test('what cannot be looked through is dangerous', async () => {
  assert.match((await reasonOf('('.repeat(1000))) ?? '', /too deep/)
  assert.match((await reason(['bash', '-x', '-c', '('.repeat(1000)])) ?? '', /too deep/)
})
