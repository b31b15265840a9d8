import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PLACES, Talk } from './place.ts'

for (const [where, open] of Object.entries(PLACES)) {
  describe(`unified exec, ${where}`, () => {
    test('a command that ends in time is answered whole', async () => {
      await using place = await open()
      await using talk = new Talk(place)
      const { text, exitCode, sessionId, output } = await talk.run('exec_command', { cmd: 'echo hello; exit 3' })
      assert.deepEqual({ exitCode, sessionId, output }, { exitCode: 3, sessionId: undefined, output: 'hello\n' })
      assert.match(
        text,
        /^Chunk ID: [0-9a-f]{6}\nWall time: \d\.\d{4} seconds\nProcess exited with code 3\nOriginal token count: 2\nOutput:\nhello\n$/,
      )
    })
  })
}
