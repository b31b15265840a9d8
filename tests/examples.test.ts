import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { serverCommand, startServer } from '@waldo/testkit'

const ROOT = join(import.meta.dir, '..')

describe('the README', () => {
  test('a first session: what it says to type gives what it says will come', async () => {
    const blocks = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/```console\n([^`]+)```/g)
    const [typed, expected] = [...blocks].map(([, block]) => block)
    const input = typed!.split('\n').slice(1).join('\n')
    const child = Bun.spawn([...serverCommand(), 'serve', '--listen', 'stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.write(input)
    await child.stdin.flush()
    let output = ''
    for await (const bytes of child.stdout) {
      output += Buffer.from(bytes).toString()
      if (output.includes('process/closed')) break
    }
    await child.stdin.end()
    assert.equal(await child.exited, 0)
    const lines = output.trim().split('\n')
    assert.match(lines[0]!, /^{"id":1,"result":{"sessionId":"[^"]+","environmentInfo":{"shell":{"name":/)
    assert.deepEqual(lines.slice(1), expected!.trim().split('\n').slice(1))
  })
})

describe('examples', () => {
  test('run-command passes output and exit code on', async () => {
    await using server = await startServer()
    const command = ['examples/run-command.ts', server.url, 'sh', '-c', 'echo out; echo err >&2; exit 5']
    const child = Bun.spawn([process.execPath, ...command], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    assert.deepEqual([stdout, stderr, code], ['out\n', 'err\n', 5])
  })
})
