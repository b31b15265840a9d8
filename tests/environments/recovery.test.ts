import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { type EnvironmentStatus, type NetworkVerdict, sandboxProfiles } from '@waldo/environment'
import { connect } from '@waldo/sdk'
import { isAlive } from '@waldo/testkit'
import { get } from './behaviour/network.ts'
import { all, fails, said, until } from './collect.ts'
import { startProxy } from './cutting-proxy.ts'
import { startExecutor } from './executors.ts'
import { scratch, WALDO } from './scratch.ts'

const noSandbox = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'

describe('after a cut', () => {
  test('everything goes on, and the status tells', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    const process = await env.processes.start(['sh', '-c', 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done'])
    const seen: EnvironmentStatus[] = []
    env.onStatus((status) => seen.push(status))
    const reading = all(process.events())
    await proxy.refuse()
    await until(() => env.status.state === 'recovering')
    const waiting = env.files.exists('/')
    await proxy.accept()
    assert.equal(await waiting, true)
    assert.equal(said(await reading), '1\n2\n3\n4\n5\n6\n')
    assert.deepEqual(
      seen.map(({ state }) => state),
      ['recovering', 'ready'],
    )
    const [cut] = seen
    assert.ok(cut?.state === 'recovering' && cut.since instanceof Date && cut.error.code === 'DISCONNECTED')
  })

  test('whoever does not want to wait gives up by a signal, and the rest waits on', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    await env.ready()
    await proxy.refuse()
    await until(() => env.status.state === 'recovering')
    const patient = env.processes.list()
    await assert.rejects(env.processes.list({ signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
    assert.equal(env.status.state, 'recovering')
    await proxy.accept()
    assert.deepEqual(await patient, [])
  })

  test('what may not be done twice is DISCONNECTED', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    using dir = scratch()
    const cat = await env.processes.start(['cat'], { stdin: true })
    const calls = [
      () => env.files.writeFile(dir.at('a'), 'x'),
      () => env.files.append(dir.at('a'), 'x'),
      () => env.files.setMode(dir.at('a'), 0o600),
      () => env.files.createDirectory(dir.at('b')),
      () => env.files.copy(dir.at('a'), dir.at('c')),
      () => env.files.rename(dir.at('a'), dir.at('d')),
      () => env.files.remove(dir.at('d')),
      () => env.http.request('http://127.0.0.1:1'),
      () => cat.signal('SIGWINCH'),
    ]
    for (const call of calls) {
      await env.ready()
      proxy.cutAfter('up', 1)
      await fails(call(), 'DISCONNECTED')
    }
    assert.equal(await env.files.exists(dir.at('a')), false)
  })

  test('a file that was being written is not there, and its stream says so', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    using dir = scratch()
    writeFileSync(dir.at('file'), 'old')
    const writer = env.files.writeStream(dir.at('file')).getWriter()
    await writer.write(Buffer.from('new'))
    proxy.cut()
    await until(() => env.status.state !== 'ready')
    await env.ready()
    await fails(writer.close(), 'DISCONNECTED')
    assert.equal(readFileSync(dir.at('file'), 'utf8'), 'old')
  })

  test('a file that is being read goes on, unless it has changed', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    using dir = scratch()
    const data = Buffer.from(Array.from({ length: 12_000_000 }, (_, index) => (index * 31) >> 3))
    writeFileSync(dir.at('file'), data)
    const parts: Uint8Array[] = []
    for await (const part of env.files.readStream(dir.at('file'))) {
      parts.push(part)
      if (parts.length % 3 === 0) proxy.cut()
    }
    assert.ok(Buffer.concat(parts).equals(data))
    assert.ok(proxy.connections > 3)
    const reader = env.files.readStream(dir.at('file')).getReader()
    await reader.read()
    proxy.cut()
    writeFileSync(dir.at('file'), 'changed')
    await fails(
      (async () => {
        while (!(await reader.read()).done);
      })(),
      'FILE_FAILED',
    )
  })

  test('whoever decides about a network goes on; what was undecided is denied', { skip: noSandbox }, async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    const asked: { host: string; signal: AbortSignal }[] = []
    const decide = ({ host }: { host: string }, signal: AbortSignal): NetworkVerdict | Promise<NetworkVerdict> => {
      asked.push({ host, signal })
      return host === 'first.test' ? new Promise(() => {}) : { deny: 'thought about' }
    }
    const heard = `{ ${get('second.test')}; } | grep -q 'thought about'`
    const script = `${get('first.test')}; until ${heard}; do sleep 0.05; done`
    const options = { sandbox: sandboxProfiles.readOnly(), network: { decide } }
    const command = await env.processes.start(['bash', '-c', script], options)
    await until(() => asked.length === 1)
    proxy.cut()
    assert.equal((await command.wait()).exitCode, 0)
    assert.match(await command.text(), /first.test.*not_allowed/)
    assert.ok(asked[0]?.signal.aborted)
    assert.equal(asked.at(-1)?.host, 'second.test')
  })

  test('a start whose answer was lost is one process, wherever the wire is cut', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    using dir = scratch()
    const directions = ['up', 'down'] as const
    let started = 0
    for (const direction of directions) {
      for (const bytes of [1, 2, 10, 50, 51, 52, 60, 80, 120, 200, 300, 400, 450, 500, 600]) {
        await env.ready()
        const id = `process-${++started}`
        proxy.cutAfter(direction, bytes)
        const script = `echo $$ > ${dir.at('')}/$0.$$; echo said`
        const process = await env.processes.start(['sh', '-c', script, id], { id })
        assert.equal(await process.text(), 'said\n')
        assert.equal((await process.wait()).exitCode, 0)
      }
    }
    assert.equal(readdirSync(dir.path).length, started)
    assert.equal((await env.processes.list()).length, started)
    assert.ok(proxy.connections > started / 2, `it was only cut ${proxy.connections} times`)
  })

  test('writes, output and watches survive cuts at any byte, also while hands are being shaken', async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    await using cat = await env.processes.start(['cat'], { stdin: true })
    const reading = all(cat.events())
    let expected = ''
    for (let round = 0; round < 120; round++) {
      const direction = round % 2 === 0 ? 'up' : 'down'
      proxy.cutAfter(direction, 1 + ((round * 37) % 900))
      const line = `${round} ${'x'.repeat(round * 3)}\n`
      await cat.write(line)
      expected += line
    }
    await cat.closeStdin()
    assert.equal(said(await reading), expected)
    assert.ok(proxy.connections > 20, `it was only cut ${proxy.connections} times`)
  })
})

describe('a server that is gone for good', () => {
  test('is SESSION_LOST when it is back without the session, and the next use opens a fresh one', async () => {
    await using first = await startExecutor()
    const port = new URL(first.url).port
    await using env = connect(first.url)
    const process = await env.processes.start(['sleep', '1000'])
    const [{ pid } = { pid: 0 }] = await env.processes.list()
    const waiting = process.wait()
    const reading = fails(all(process.events()), 'SESSION_LOST')
    await first.kill()
    await until(() => env.status.state === 'recovering')
    await using second = await startExecutor({ listen: `ws://127.0.0.1:${port}` })
    assert.equal(second.url, first.url)
    const { state, error, exitCode } = await waiting
    assert.deepEqual([state, error?.code, exitCode], ['lost', 'SESSION_LOST', null])
    await reading
    assert.equal(env.status.state, 'failed')
    await fails(process.write('x'), 'SESSION_LOST')
    assert.deepEqual(await env.processes.list(), [])
    await fails(process.write('x'), 'SESSION_LOST')
    assert.equal((await process.wait()).state, 'lost')
    await until(() => !isAlive(pid))
  })

  test('is not tried where the executor was stopped: its sessions have ended with it', async () => {
    await using executor = await startExecutor()
    await using env = connect(executor.url)
    const sleeper = await env.processes.start(['sleep', '1000'])
    const waiting = sleeper.wait()
    process.kill(executor.pid, 'SIGTERM')
    const { state, error } = await waiting
    assert.deepEqual([state, error?.code], ['lost', 'SESSION_LOST'])
    assert.equal(env.status.state, 'failed')
  })

  test('is given up when the session would have expired', async () => {
    await using executor = await startExecutor({ args: ['--detached-ttl', '1s'] })
    await using proxy = await startProxy(executor.url)
    await using env = connect(proxy.url)
    const process = await env.processes.start(['sleep', '1000'])
    await proxy.refuse()
    const { state, error } = await process.wait()
    assert.deepEqual([state, error?.code], ['lost', 'SESSION_LOST'])
    await proxy.accept()
    assert.deepEqual(await env.processes.list(), [])
  })

  test('behind a command loses its processes at once, and is started again at the next use', async () => {
    using dir = scratch()
    const args = ['-c', `echo $$ > ${dir.at('pid')}; exec ${WALDO} serve --listen stdio --state-dir ${dir.at('state')}`]
    await using env = connect({ program: 'sh', args })
    const sleeper = await env.processes.start(['sleep', '1000'])
    const waiting = sleeper.wait()
    process.kill(Number(readFileSync(dir.at('pid'), 'utf8')), 'SIGKILL')
    const { state, error } = await waiting
    assert.deepEqual([state, error?.code], ['lost', 'DISCONNECTED'])
    assert.equal(env.status.state, 'failed')
    assert.deepEqual(await env.processes.list(), [])
    await fails(sleeper.write('x'), 'SESSION_LOST')
  })
})
