import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { decodeAnsiC } from './ansi-c-string.ts'

test('what an ANSI-C string says is what bash makes of it', () => {
  const texts = [
    String.raw`\162m`,
    String.raw`\x72m`,
    String.raw`\x720`,
    String.raw`\X41`,
    String.raw`\x{72}m`,
    String.raw`\x{0072}m`,
    String.raw`\x{72m`,
    String.raw`\u0072m`,
    String.raw`\u72`,
    String.raw`\U00000072m`,
    String.raw`\U72m`,
    String.raw`rm\0xyz`,
    String.raw`rm\x00xyz`,
    String.raw`a\nb\tc\\d\'e\"f\?g`,
    String.raw`\e\E\a\b\f\r\v`,
    String.raw`\z\9`,
    'plain',
  ]
  for (const text of texts) {
    const said = execFileSync('bash', ['-c', `printf %s $'${text}'`], { env: { LC_ALL: 'C.UTF-8' } }).toString()
    // Of what bash leaves alone the backslash does not matter here: it can only forbid too much.
    assert.equal(decodeAnsiC(text).replaceAll('\\', ''), said.replaceAll('\\', ''), text)
  }
})
