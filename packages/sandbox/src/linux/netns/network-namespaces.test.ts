import assert from 'node:assert/strict'
import { once } from 'node:events'
import { closeSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { bun, inside, maker, ordinaryUserRuns, sandbox } from './fixtures/namespace.ts'
import { type NetworkNamespace, NetworkNamespaces, type NetworkNamespacesOptions } from './network-namespaces.ts'

function testNamespaces(options: Partial<NetworkNamespacesOptions> = {}): NetworkNamespaces & Disposable {
  const namespaces = new NetworkNamespaces({ command: maker, ...options })
  return Object.assign(namespaces, { [Symbol.dispose]: () => namespaces.close() })
}

async function serve(namespace: NetworkNamespace, name: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${name}`)
  })
  server.listen({ fd: namespace.takeListener() })
  await once(server, 'listening')
  return server
}

const descriptors = () => readdirSync('/proc/self/fd').length
/** The processes of ours that have this in their command lines. */
const processes = (text: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text)
    } catch {
      return false // It has ended meanwhile.
    }
  })

async function until(what: string, condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (condition()) return
    await sleep(20)
  }
  assert.fail(`still not: ${what}`)
}

describe('a command in a network namespace', () => {
  test('reaches what listens for it outside, and nothing else', async () => {
    using namespaces = testNamespaces()
    const elsewhere = createServer((socket) => socket.end('elsewhere'))
    elsewhere.listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const { port } = elsewhere.address() as { port: number }
    const namespace = await namespaces.create()
    const server = await serve(namespace, 'served from outside')
    const script = [
      `curl -s -m 5 -x http://127.0.0.1:${namespace.port} http://some.test/; echo " $?"`,
      `curl -s -m 5 http://127.0.0.1:${port}/; echo "$?"`,
      `curl -s -m 5 http://192.0.2.1/; echo "$?"`,
      `curl -s -m 5 'http://[2001:db8::1]/'; echo "$?"`,
      `wc -l < /proc/net/route`,
    ].join('\n')
    const { stdout } = await inside(namespace, script)
    server.close()
    elsewhere.close()
    namespace.release()
    // Seven is curl's word for "cannot connect"; the one line is the heading of an empty table.
    assert.deepEqual(stdout.split('\n'), ['served from outside 0', '7', '7', '7', '1', ''])
  })

  test('keeps its identity, has no rights over the network, and no descriptor of a namespace', async () => {
    using namespaces = testNamespaces()
    const namespace = await namespaces.create()
    const script = [
      'id -u; grep CapEff /proc/self/status',
      'ls -l /proc/self/fd | grep -c -e net: -e user:',
      'ip link set lo down 2>/dev/null && echo changed',
      'nsenter --net=/proc/1/ns/net true 2>/dev/null && echo entered',
      'unshare --net true 2>/dev/null && echo made',
      'true',
    ].join('\n')
    const { stdout, stderr, code } = await inside(namespace, script)
    namespace.release()
    const expected = `${process.getuid?.()}\nCapEff:\t0000000000000000\n0\n`
    assert.deepEqual({ stdout, stderr, code }, { stdout: expected, stderr: '', code: 0 })
  })

  test('is alone: the next one has a network and a listener of its own', async () => {
    using namespaces = testNamespaces()
    const [one, two] = await Promise.all([namespaces.create(), namespaces.create()])
    const servers = [await serve(one, 'one'), await serve(two, 'two')]
    const ask = `curl -s -m 5 http://127.0.0.1:${one.port}/; readlink /proc/self/ns/net`
    const answers = await Promise.all([inside(one, ask), inside(two, ask)])
    for (const server of servers) server.close()
    for (const namespace of [one, two]) namespace.release()
    assert.match(answers[0].stdout, /^onenet:/)
    assert.match(answers[1].stdout, /^twonet:/)
    assert.notEqual(answers[0].stdout.slice(3), answers[1].stdout.slice(3))
  })

  test('stays in its network after it has been released', async () => {
    using namespaces = testNamespaces()
    const namespace = await namespaces.create()
    const server = await serve(namespace, 'still here')
    const argv = [...namespace.enter, ...sandbox, `echo up; read go; curl -s -m 5 http://127.0.0.1:${namespace.port}/`]
    const child = Bun.spawn([...argv], { stdio: ['pipe', 'pipe', 'inherit'] })
    const output = child.stdout.getReader()
    await output.read()
    namespace.release()
    namespaces.close()
    child.stdin.write('go\n')
    child.stdin.end()
    const { value } = await output.read()
    server.close()
    assert.equal(new TextDecoder().decode(value), 'still here')
    assert.equal(await child.exited, 0)
  })
})

describe('namespaces', () => {
  test('leave nothing behind when they are released, whether their listener was taken or not', async () => {
    using namespaces = testNamespaces()
    const first = await namespaces.create()
    const before = descriptors()
    for (let i = 0; i < 50; i++) {
      const namespace = await namespaces.create()
      if (i % 2 === 0) closeSync(namespace.takeListener())
      namespace.release()
      namespace.release()
      assert.throws(() => namespace.takeListener(), /gone already/)
    }
    assert.equal(descriptors(), before)
    first.release()
  })

  test('are at most 256, and there is room again when one is released', async () => {
    using namespaces = testNamespaces()
    const made = await Promise.all(Array.from({ length: 256 }, () => namespaces.create()))
    await assert.rejects(namespaces.create(), /256 commands with a managed network are running/)
    made.pop()?.release()
    made.push(await namespaces.create())
    for (const namespace of made) namespace.release()
  })

  test('are made by a process that is started again when it has died', async () => {
    const mark = `waldo-mark-${process.pid}-killed`
    using namespaces = testNamespaces({ command: [...maker, mark] })
    const first = await namespaces.create()
    const pids = processes(mark)
    assert.notEqual(pids.length, 0)
    for (const pid of pids) process.kill(Number(pid), 'SIGKILL')
    // The kernel may be slower than we are: as long as the dead one has not been noticed, a request fails.
    const second = await namespaces.create().catch(async (error: Error) => {
      assert.match(error.message, /has ended/)
      await until('noticed', () => processes(mark).length === 0)
      return namespaces.create()
    })
    // What the dead one has made lives on.
    const { stdout } = await inside(first, 'echo alive')
    assert.equal(stdout, 'alive\n')
    first.release()
    second.release()
  })

  test('are made by a process that ends with whoever has started it, even by SIGKILL', async () => {
    const mark = `waldo-mark-${process.pid}-orphan`
    const command = JSON.stringify([...maker, mark])
    const script = `
      import { NetworkNamespaces } from '${import.meta.dir}/network-namespaces.ts'
      await new NetworkNamespaces({ command: ${command} }).create()
      console.log('made')
      setInterval(() => {}, 1000)`
    const server = Bun.spawn(bun(script), { stdio: ['ignore', 'pipe', 'inherit'] })
    await server.stdout.getReader().read()
    assert.notEqual(processes(mark).filter((pid) => Number(pid) !== server.pid).length, 0)
    server.kill('SIGKILL')
    await server.exited
    await until('gone', () => processes(mark).length === 0)
  })

  test('are made by a process that sees nothing of our environment, and is gone after the end', async () => {
    const mark = `waldo-mark-${process.pid}-env`
    const namespaces = new NetworkNamespaces({ command: [...maker, mark], env: { GIVEN: '1' } })
    const namespace = await namespaces.create()
    const environments = processes(mark).map((pid) => readFileSync(`/proc/${pid}/environ`, 'latin1'))
    assert.match(environments.join('\0'), /GIVEN=1/)
    assert.doesNotMatch(environments.join('\0'), /PATH=/)
    namespace.release()
    namespaces.close()
    await until('gone', () => processes(mark).length === 0)
    await assert.rejects(namespaces.create(), /the server is stopping/)
  })

  test('that cannot be made say why', async () => {
    const before = descriptors()
    const failing = {
      '/nonexistent/bwrap': testNamespaces({ bwrap: '/nonexistent/bwrap' }),
      'has ended \\(exit code 7\\)': testNamespaces({ command: ['/bin/sh', '-c', 'exit 7'] }),
      'has ended \\(no such luck\\)': testNamespaces({ command: ['/bin/sh', '-c', 'echo no such luck >&2'] }),
      'does not speak our language': testNamespaces({ command: ['/bin/sh', '-c', 'head -c 5000 /dev/zero'] }),
      'not today': testNamespaces({ command: ['/bin/sh', '-c', 'echo not today; read nothing'] }),
    }
    for (const [message, namespaces] of Object.entries(failing)) {
      using closing = namespaces
      await assert.rejects(closing.create(), new RegExp(message))
    }
    await until('all descriptors closed', () => descriptors() <= before)
  })
})

ordinaryUserRuns(import.meta.path)
