import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type Environment, type ManagedNetwork, type NetworkDecision, sandboxProfiles } from '@waldo/environment'
import { connect } from '@waldo/sdk'
import { isAlive } from '@waldo/testkit'
import { get } from './behaviour/network.ts'
import { all, bytesOf, fails, said, until } from './collect.ts'
import { type CuttingProxy, startProxy } from './cutting-proxy.ts'
import { executorEnv, firstLine } from './executors.ts'
import { scratch } from './scratch.ts'

// Our client has to work with the executor that its protocol comes from. `WALDO_PEER` names a codex binary.
const program = process.env.WALDO_PEER
const skip = program ? false : 'WALDO_PEER names no codex binary'

/** It refuses a home in the directory for temporary files. */
function makeHome(): string {
  const parent = join(homedir(), '.cache')
  mkdirSync(parent, { recursive: true })
  return mkdtempSync(join(parent, 'waldo-peer-'))
}

describe('the executor of the reference', { skip }, async () => {
  if (!program) return
  const home = makeHome()
  const env = executorEnv({ CODEX_HOME: home })
  const server = spawn(program, ['exec-server', '--listen', 'ws://127.0.0.1:0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const url = await firstLine(server)
  const proxy = await startProxy(url)
  after(async () => {
    await proxy[Symbol.asyncDispose]()
    server.kill('SIGKILL')
    await once(server, 'exit')
    rmSync(home, { recursive: true, force: true })
  })
  peerBehaviour('over a WebSocket', () => connect(url))
  const args = ['exec-server', '--listen', 'stdio']
  peerBehaviour('behind a command', () => connect({ program, args, env }))
  recoveryBehaviour(proxy)
})

function peerBehaviour(title: string, open: () => Environment): void {
  const sh = (env: Environment, script: string, options = {}) =>
    env.processes.start(['sh', '-c', script], { cwd: '/tmp', ...options })

  describe(title, () => {
    test('runs processes and tells everything that happens in order', async () => {
      await using env = open()
      const process = await sh(env, 'echo out; echo err >&2; sleep 0.1; echo more; exit 3')
      const events = await all(process.events())
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
      )
      assert.equal(said(events, 'stdout'), 'out\nmore\n')
      assert.equal(said(events, 'stderr'), 'err\n')
      const bytes = { output: null, dropped: null }
      const result = { state: 'exited', exitCode: 3, signal: null, sandboxDenied: false, bytes }
      assert.deepEqual(await process.wait(), result)
      assert.deepEqual(await all(process.events()), events)
      assert.deepEqual(await all(process.events({ after: 1 })), events.slice(1))
      await fails(env.processes.start(['/no/such/program'], { cwd: '/tmp' }), 'SPAWN_FAILED')
    })

    test('lets a slow reader read 64 MiB without losing any', async () => {
      await using env = open()
      const process = await sh(env, 'head -c 67108864 /dev/zero')
      let length = 0
      let events = 0
      for await (const event of process.events()) {
        if (event.type === 'output') length += event.data.length
        if (++events % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 20))
      }
      assert.equal(length, 67_108_864)
    })

    test('takes input, and has terminals', async () => {
      await using env = open()
      await using cat = await env.processes.start(['cat'], { stdin: true, cwd: '/tmp' })
      const lines = Array.from({ length: 100 }, (_, index) => `${index}\n`)
      await Promise.all(lines.map((line) => cat.write(line)))
      let heard = ''
      for await (const event of cat.events()) {
        if (event.type === 'output') heard += Buffer.from(event.data).toString()
        if (heard.length >= lines.join('').length) break
      }
      assert.equal(heard, lines.join(''))
      await using shell = await sh(env, 'stty size; read line; echo "got $line"', { tty: true })
      await shell.write('typed\n')
      const text = await shell.text()
      assert.match(text, /24 80/)
      assert.match(text, /got typed/)
    })

    test('can be interrupted and ended', async () => {
      await using env = open()
      const waiting = await sh(env, 'trap "exit 5" INT; echo ready; while :; do sleep 0.05; done')
      for await (const event of waiting.events()) if (event.type === 'output') break
      await waiting.signal('interrupt')
      assert.equal((await waiting.wait()).exitCode, 5)
      const sleeper = await sh(env, 'echo $$; sleep 1000')
      await sleeper.terminate()
      assert.equal((await sleeper.wait()).state, 'exited')
    })

    test('says UNSUPPORTED where it cannot do what is asked for', async () => {
      await using env = open()
      await using cat = await env.processes.start(['cat'], { stdin: true, cwd: '/tmp' })
      await fails(env.processes.list(), 'UNSUPPORTED')
      await fails(cat.closeStdin(), 'UNSUPPORTED')
      await fails(cat.resize({ cols: 1, rows: 1 }), 'UNSUPPORTED')
      await fails(cat.signal('SIGTERM'), 'UNSUPPORTED')
      await fails(cat.terminate({ graceMs: 10 }), 'UNSUPPORTED')
      await fails(sh(env, 'true', { tty: { cols: 10, rows: 10 } }), 'UNSUPPORTED')
      await fails(sh(env, 'true', { limits: { wallMs: 1000 } }), 'UNSUPPORTED')
      assert.equal(await env.sandboxInfo(), undefined)
      await fails(env.files.append('/tmp/x', ''), 'UNSUPPORTED')
      await fails(env.files.rename('/tmp/x', '/tmp/y'), 'UNSUPPORTED')
      await fails(env.files.setMode('/tmp/x', 0o600), 'UNSUPPORTED')
      await fails(env.files.glob('/tmp'), 'UNSUPPORTED')
      await fails(env.files.grep('/tmp', 'x'), 'UNSUPPORTED')
      await fails(env.files.watch('/tmp')[Symbol.asyncIterator]().next(), 'UNSUPPORTED')
    })

    test('works on files', async () => {
      await using env = open()
      using dir = scratch()
      const path = dir.at('ä b')
      await env.files.writeFile(path, 'hello')
      assert.equal(await env.files.readText(path), 'hello')
      assert.equal((await env.files.metadata(path)).size, 5)
      await fails(env.files.readFile(dir.at('none')), 'FILE_NOT_FOUND')
      await fails(env.files.readFile(dir.path), 'FILE_INVALID', 'FILE_FAILED')
      await env.files.createDirectory(dir.at('a/b'))
      await env.files.copy(path, dir.at('a/b/c'))
      const names = (await env.files.readDirectory(dir.path)).map(({ name }) => name)
      assert.deepEqual(names.sort(), ['a', 'ä b'])
      assert.equal((await env.files.walk(dir.path)).entries.length, 4)
      assert.match(await env.files.canonicalize(path), /^file:\/\//)
      const data = Buffer.alloc(5_000_000, 'abc')
      writeFileSync(dir.at('large'), data)
      assert.ok((await bytesOf(env.files.readStream(dir.at('large')))).equals(data))
      await env.files.remove(dir.at('a'))
      assert.equal(await env.files.exists(dir.at('a')), false)
      if ((await env.info()).capabilities?.fileWriteStreaming) {
        const writer = env.files.writeStream(dir.at('out')).getWriter()
        await writer.write(data)
        await writer.close()
        assert.ok(readFileSync(dir.at('out')).equals(data))
      } else await fails(env.files.writeStream(dir.at('out')).getWriter().close(), 'UNSUPPORTED')
    })

    test('makes requests', async () => {
      await using env = open()
      const http = createServer((_, response) => response.end(Buffer.alloc(3_000_000, 'z')))
      http.listen(0, '127.0.0.1')
      await once(http, 'listening')
      const address = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
      const response = await env.http.request(address)
      assert.equal(response.status, 200)
      assert.equal((await response.bytes()).length, 3_000_000)
      assert.equal((await (await env.http.fetch(address)).text()).length, 3_000_000)
      await fails(env.http.request('http://127.0.0.1:1'), 'HTTP_FAILED')
      http.closeAllConnections()
      http.close()
    })

    test('keeps commands and files to a sandbox', async () => {
      await using env = open()
      using dir = scratch()
      mkdirSync(dir.at('ws'))
      const sandbox = sandboxProfiles.workspaceWrite({ roots: [dir.at('ws')], tmp: false })
      const script = `echo in > in; echo out > ${dir.at('out')}`
      const { exitCode, sandboxDenied } = await (await sh(env, script, { cwd: dir.at('ws'), sandbox })).wait()
      assert.deepEqual([exitCode === 0, sandboxDenied], [false, true])
      await fails(env.files.writeFile(dir.at('out'), 'x', { sandbox }), 'FILE_DENIED')
      await fails(bytesOf(env.files.readStream(dir.at('none'), { sandbox })), 'FILE_NOT_FOUND')
      assert.deepEqual([existsSync(dir.at('ws/in')), existsSync(dir.at('out'))], [true, false])
    })

    test('asks us about the network of a command', async () => {
      await using env = open()
      const asked: string[] = []
      const decided: NetworkDecision[] = []
      const network: ManagedNetwork = {
        decide: ({ host }) => {
          asked.push(host)
          return { deny: 'not today' }
        },
        onDecision: (decision) => decided.push(decision),
      }
      const sandbox = sandboxProfiles.readOnly()
      const command = await env.processes.start(['bash', '-c', get('example.test')], { cwd: '/tmp', sandbox, network })
      assert.match(await command.text(), /403 Forbidden/)
      assert.deepEqual(asked, ['example.test'])
      await until(() => decided.length > 0)
      const { host, decision, source, reason } = decided[0]!
      assert.deepEqual([host, decision, source, reason], ['example.test', 'deny', 'decider', 'not today'])
    })

    test('does not disturb a process when another is started under its id', async () => {
      await using env = open()
      await using cat = await env.processes.start(['cat'], { stdin: true, cwd: '/tmp', id: 'mine' })
      await fails(sh(env, 'true', { id: 'mine' }), 'REFUSED')
      await cat.write('still here\n')
      for await (const event of cat.events()) if (event.type === 'output') break
    })

    test('is left without processes when the environment is closed', async () => {
      const env = open()
      const process = await sh(env, 'echo $$; sleep 1000')
      let pid = 0
      for await (const event of process.events()) {
        if (event.type === 'output') pid = Number(Buffer.from(event.data).toString())
        break
      }
      assert.ok(isAlive(pid))
      await env.close()
      await until(() => !isAlive(pid))
    })
  })
}

function recoveryBehaviour(proxy: CuttingProxy): void {
  test('is taken up again after a cut', async () => {
    await using env = connect(proxy.url)
    const script = 'for i in $(seq 40); do echo $i; sleep 0.05; done; exit 4'
    const process = await env.processes.start(['sh', '-c', script], { cwd: '/tmp' })
    await using cat = await env.processes.start(['cat'], { stdin: true, cwd: '/tmp' })
    const reading = all(process.events())
    let expected = ''
    for (let round = 0; round < 10; round++) {
      proxy.cut()
      const line = `${round}\n`
      expected += line
      await cat.write(line)
    }
    const events = await reading
    assert.equal(said(events), Array.from({ length: 40 }, (_, index) => `${index + 1}\n`).join(''))
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    )
    assert.equal((await process.wait()).exitCode, 4)
    let heard = ''
    for await (const event of cat.events()) {
      if (event.type === 'output') heard += Buffer.from(event.data).toString()
      if (heard.length >= expected.length) break
    }
    assert.equal(heard, expected)
    assert.ok(proxy.connections > 5)
  })

  test('loses a process whose output it no longer has', async () => {
    await using env = connect(proxy.url)
    const script = 'sleep 0.5; head -c 5000000 /dev/zero; sleep 1000'
    await using process = await env.processes.start(['sh', '-c', script], { cwd: '/tmp' })
    await proxy.refuse()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await proxy.accept()
    const { state, error } = await process.wait()
    assert.deepEqual([state, error?.code], ['lost', 'PROCESS_LOST'])
    assert.equal(await env.files.exists('/tmp'), true)
  })
}
