import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grammarFiles } from '../node/bash-grammar.ts'
import { canonicalCommand } from './canonical-command.ts'
import { ScriptParser } from './script-parser.ts'

const parser = new ScriptParser(grammarFiles)
const canonical = async (...argv: string[]) => canonicalCommand(argv, await parser.commandLine(argv))

test('an approval of one plain command holds however it is quoted', async () => {
  const words = ['git', 'log', 'a b']
  assert.deepEqual(await canonical(...words), { flags: [], words })
  for (const script of [`git  log 'a b'`, `git "log" "a b"`]) {
    assert.deepEqual(await canonical('bash', '-lc', script), { flags: ['-lc'], words })
  }
})

test('an approval of anything else holds for that script only', async () => {
  for (const script of ['ls && pwd', 'FOO=1 ls', 'ls > x', 'ls $x', '']) {
    assert.deepEqual(await canonical('zsh', '-c', script), { flags: ['-c'], script })
  }
})

test('an approval of a PowerShell script holds for the options it was started with', async () => {
  for (const flags of [['-Command'], ['-NoProfile', '-Command'], ['-NoLogo', '-NoProfile', '-c']]) {
    assert.deepEqual(await canonical('pwsh', ...flags, 'ls'), { flags, script: 'ls' })
  }
  const other = ['pwsh', '-File', '-Command', 'x', 'ls']
  assert.deepEqual(await canonical(...other), { flags: [], words: other })
})
