import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findExecutable } from './find-executable.ts'

test('the executable is what was said, what the PATH finds, or that of the sources', () => {
  const directory = mkdtempSync(join(tmpdir(), 'waldo-path-'))
  try {
    const program = join(directory, 'waldo')
    assert.equal(findExecutable({ WALDO_EXECUTABLE: '/opt/waldo', PATH: directory }), '/opt/waldo')
    assert.match(findExecutable({ PATH: `relative:${directory}` }), /\/waldo$/)
    assert.notEqual(findExecutable({ PATH: directory }), program)
    writeFileSync(program, '')
    assert.notEqual(findExecutable({ PATH: directory }), program, 'it cannot be executed')
    rmSync(program)
    writeFileSync(program, '', { mode: 0o755 })
    assert.equal(findExecutable({ PATH: `/nowhere:${directory}` }), program)
  } finally {
    rmSync(directory, { recursive: true })
  }
})
