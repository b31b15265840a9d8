import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually, serverCommand, startProxy, startServer } from '@waldo/testkit'

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
  const example = (name: string, ...args: string[]) => [process.execPath, `examples/${name}.ts`, ...args]

  test('run-command passes output and exit code on', async () => {
    await using server = await startServer()
    const command = example('run-command', server.url, 'sh', '-c', 'echo out; echo err >&2; exit 5')
    const child = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    assert.deepEqual([stdout, stderr, code], ['out\n', 'err\n', 5])
  })

  test('remote-shell is a terminal there for the terminal here, and ends with it', async () => {
    await using server = await startServer({ env: { SHELL: '/bin/sh', PS1: 'there> ' } })
    let screen = ''
    const data = (_: unknown, bytes: Uint8Array) => {
      screen += Buffer.from(bytes).toString()
    }
    const child = Bun.spawn(example('remote-shell', server.url), {
      cwd: ROOT,
      terminal: { cols: 97, rows: 31, data },
    })
    const type = (text: string) => child.terminal!.write(`${text}\r`)
    await eventually(() => /[$#>] /.test(screen), 'a prompt')
    type('stty size')
    await eventually(() => screen.includes('31 97'), 'its size')
    child.terminal!.resize(60, 20)
    await eventually(() => {
      type('stty size')
      return screen.includes('20 60')
    }, 'its new size')
    type('exit 9')
    assert.equal(await child.exited, 9)
    child.terminal!.close()
  })

  test('resume-after-cut misses nothing and repeats nothing', async () => {
    await using server = await startServer()
    await using proxy = await startProxy(server.url)
    const child = Bun.spawn(example('resume-after-cut', proxy.url), { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for await (const bytes of child.stdout) {
      output += Buffer.from(bytes).toString()
      if (/^(2|5)\n$/m.test(output.slice(-2))) proxy.cut()
    }
    assert.equal(await child.exited, 0)
    assert.equal(output, '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\nended with 0 after 21 bytes\n')
    assert.match(await child.stderr.text(), /\(recovering\)\n\(ready\)/)
  })

  test('copy-files copies them, whatever is in them', async () => {
    await using server = await startServer()
    const directory = mkdtempSync(join(tmpdir(), 'waldo-example-'))
    try {
      const content = randomBytes(3_000_001)
      writeFileSync(join(directory, 'large.bin'), content)
      writeFileSync(join(directory, 'empty'), '')
      const files = ['large.bin', 'empty'].map((name) => join(directory, name))
      const command = example('copy-files', server.url, join(directory, 'new/place'), ...files)
      const child = Bun.spawn(command, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] })
      assert.match(await child.stdout.text(), /large.bin: 3000001 bytes\n.*empty: 0 bytes\n/)
      assert.equal(await child.exited, 0)
      assert.deepEqual(readFileSync(join(directory, 'new/place/large.bin')), content)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })

  test('harness lets a model run commands and change files, and asks before it leaves the sandbox', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'waldo-example-'))
    const call = (name: string, args: object) => {
      return { type: 'function_call', call_id: `call-${name}`, name, arguments: JSON.stringify(args) }
    }
    const patch = '*** Begin Patch\n*** Add File: made.txt\n+by a model\n*** End Patch'
    // What the model says, one answer after the other.
    const answers = [
      [call('exec_command', { cmd: 'echo one; echo two > made.txt' })],
      [{ type: 'custom_tool_call', call_id: 'call-patch', name: 'apply_patch', input: patch }],
      [call('exec_command', { cmd: 'cat made.txt', sandbox_permissions: 'require_escalated' })],
      [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'All done.' }] }],
    ]
    const heard: { input: { type: string; output?: string }[]; tools: { name: string }[] }[] = []
    using model = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        heard.push((await request.json()) as (typeof heard)[0])
        return Response.json({ output: answers[heard.length - 1] })
      },
    })
    try {
      const env = { PATH: process.env.PATH, HOME: directory, MODEL_URL: `http://127.0.0.1:${model.port}` }
      const command = [process.execPath, join(ROOT, 'examples/harness.ts'), 'make', 'it']
      const child = Bun.spawn(command, { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'] })
      const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      assert.equal(code, 0, stderr)
      assert.equal(stdout, 'All done.\n')
      assert.match(stderr, /\$ echo one; echo two > made\.txt\none\n/)
      const told = heard
        .at(-1)!
        .input.filter(({ output }) => output)
        .map(({ output }) => output!)
      assert.match(told[0]!, /Process exited with code 0/)
      assert.equal(told[1], 'Success. Updated the following files:\nA made.txt\n')
      assert.equal(readFileSync(join(directory, 'made.txt'), 'utf8'), 'by a model\n')
      // Nobody sits at this terminal, and what nobody can be asked about is not done.
      assert.match(told[2]!, /nobody/i)
      assert.ok(heard[0]!.tools.some(({ name }) => name === 'apply_patch'))
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
