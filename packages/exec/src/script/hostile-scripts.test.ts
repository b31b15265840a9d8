import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { grammarFiles } from '../node/bash-grammar.ts'
import { HOSTILE_SCRIPTS } from './fixtures/hostile-scripts.ts'
import { PLAIN_SCRIPTS, TWICE } from './fixtures/plain-scripts.ts'
import { ScriptParser } from './script-parser.ts'

const parser = new ScriptParser(grammarFiles)

describe('a hostile script is opaque', () => {
  for (const [title, scripts] of Object.entries(HOSTILE_SCRIPTS)) {
    test(title, async () => {
      for (const name of ['bash', 'sh', 'zsh']) {
        for (const script of scripts) {
          const line = await parser.commandLine([name, '-lc', script])
          assert.equal(line.kind, 'opaque', `${name}: ${JSON.stringify(script)}`)
        }
      }
    })
  }

  test('and so is, for zsh, one that redirects a descriptor twice', async () => {
    for (const script of PLAIN_SCRIPTS[TWICE] ?? []) {
      assert.equal((await parser.commandLine(['zsh', '-c', script])).kind, 'opaque', script)
      assert.equal((await parser.commandLine(['bash', '-c', script])).kind, 'plain', script)
    }
  })

  test('and there are enough of both', () => {
    assert.ok(Object.values(HOSTILE_SCRIPTS).flat().length >= 300)
    assert.ok(Object.values(PLAIN_SCRIPTS).flat().length >= 200)
  })
})
