import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownCommand } from './shown-command.ts'

test('a command is shown as one would type it, and what cannot be seen is spelled out', () => {
  assert.equal(shownCommand(['echo', "it's", 'a b', '']), "echo 'it'\\''s' 'a b' ''")
  assert.equal(shownCommand(['printf', '\u001b[31m']), "printf $'\\x1b[31m'")
})

test('only the beginning of a long command is shown, and no half of a character', () => {
  assert.equal(shownCommand(['echo', 'ab'], 7), 'echo ab')
  assert.equal(shownCommand(['echo', 'abc'], 7), 'echo ab…')
  assert.equal(shownCommand(['echo', 'a'.repeat(1 << 20)], 7), 'echo aa…')
  for (let max = 1; max < 40; max++) {
    const shown = shownCommand(['\u{1f600}'.repeat(10), '\u{1f600}'.repeat(1000)], max)
    assert.ok(shown.isWellFormed() && /^'\u{1f600}*(?:' ?'?\u{1f600}*)?…$/u.test(shown), shown)
    assert.ok(shown.length <= max + 1)
  }
})
