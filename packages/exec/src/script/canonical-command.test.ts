import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grammarFiles } from '../node/bash-grammar.ts'
import { canonicalCommand } from './canonical-command.ts'
import { ScriptParser } from './script-parser.ts'

const parser = new ScriptParser(grammarFiles)
const canonical = async (...argv: string[]) => canonicalCommand(argv, await parser.commandLine(argv))

test('an approval of one plain command holds with and without a shell around it', async () => {
  assert.deepEqual(await canonical('git', 'log', 'a b'), ['git', 'log', 'a b'])
  assert.deepEqual(await canonical('bash', '-lc', `git  log 'a b'`), ['git', 'log', 'a b'])
})

test('an approval of anything else holds for that script only', async () => {
  for (const script of ['ls && pwd', 'FOO=1 ls', 'ls > x', 'ls $x', '']) {
    assert.deepEqual(await canonical('zsh', '-c', script), ['__waldo_shell_script__', '-c', script])
  }
})

test('an approval of a PowerShell script holds however PowerShell was started', async () => {
  for (const options of [['-Command'], ['-NoProfile', '-Command'], ['-NoLogo', '-NoProfile', '-c']]) {
    assert.deepEqual(await canonical('pwsh', ...options, 'ls'), ['__waldo_powershell_script__', 'ls'])
  }
  const other = ['pwsh', '-File', '-Command', 'x', 'ls']
  assert.deepEqual(await canonical(...other), other)
})
