import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { describe, test } from 'node:test'
import type { NetworkDecision } from '../../proxy/decision.ts'
import { proxyEnvironment } from '../../proxy/environment.ts'
import { wireConfig } from '../../proxy/fixtures/proxy.ts'
import { openProxy } from '../../proxy/network-proxy.ts'
import { proxyRules } from '../../proxy/rules.ts'
import { inside, maker, ordinaryUserRuns, run } from './fixtures/namespace.ts'
import { NetworkNamespaces } from './network-namespaces.ts'

/** What `allowed.test` and `denied.test` both lead to, so that only the rules keep them apart. */
async function hostOrigin(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\norigin'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close()
      await once(server, 'close')
    },
  }
}

interface Managed extends AsyncDisposable {
  readonly decisions: NetworkDecision[]
  run(script: string): Promise<string>
}

async function managed(config: Record<string, unknown>): Promise<Managed> {
  const namespaces = new NetworkNamespaces({ command: maker })
  const namespace = await namespaces.create()
  const decisions: NetworkDecision[] = []
  const rules = proxyRules(wireConfig(config))
  const proxy = await openProxy({
    listener: { fd: namespace.takeListener() },
    rules,
    onDecision: (decision) => decisions.push(decision),
    lookup: async () => ['127.0.0.1'],
  })
  const { port } = namespace
  const env = proxyEnvironment({ port, socks: rules.socks, localAllowed: rules.localAllowed, ownLoopback: true })
  const exports = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`)
  return {
    decisions,
    run: async (script) => {
      const { stdout, stderr } = await inside(namespace, exports.join('') + script)
      assert.equal(stderr, '')
      return stdout
    },
    async [Symbol.asyncDispose]() {
      namespace.release()
      namespaces.close()
      await proxy.close()
    },
  }
}

const DOMAINS = { 'allowed.test': 'allow', 'denied.test': 'deny' }

describe('a command in a managed network', () => {
  test('reaches what is allowed, over HTTP, CONNECT and SOCKS', async () => {
    await using origin = await hostOrigin()
    await using network = await managed({ allowLocalBinding: true, domains: DOMAINS })
    const url = `http://allowed.test:${origin.port}/`
    const output = await network.run(`
      curl -s -m 5 ${url}; echo
      curl -s -m 5 -p ${url}; echo
      curl -s -m 5 -x $ALL_PROXY ${url}`)
    assert.equal(output, 'origin\norigin\norigin')
    assert.deepEqual(
      network.decisions.map(({ protocol, host, decision }) => `${protocol} ${host} ${decision}`),
      ['http allowed.test allow', 'https_connect allowed.test allow', 'socks5_tcp allowed.test allow'],
    )
  })

  test('reaches nothing else, whatever it tries', async () => {
    await using origin = await hostOrigin()
    for (const allowLocalBinding of [true, false]) {
      await using network = await managed({ allowLocalBinding, domains: DOMAINS })
      const { port } = origin
      const output = await network.run(`
        try() { curl -s -m 5 "$@"; echo " $?"; }
        curl -s -m 5 -o /dev/null -D - http://denied.test:${port}/ | tr -d '\\r' | grep -iE '^(HTTP|x-proxy-error)'
        {
          try --noproxy '*' http://127.0.0.1:${port}/
          try --noproxy '' http://127.0.0.1:${port}/
          try --noproxy '' -g 'http://[::ffff:127.0.0.1]:${port}/'
          try --noproxy '' http://2130706433:${port}/
          try --noproxy '' http://0x7f.1:${port}/
          try --noproxy '' http://localhost:${port}/
          try -H 'Host: allowed.test' http://denied.test:${port}/
          try -p -H 'Host: allowed.test' http://denied.test:${port}/
          try -x socks5h://127.0.0.1:3128 http://denied.test:${port}/
          try -x socks5://127.0.0.1:3128 http://127.0.0.1:${port}/
          try -x socks4a://127.0.0.1:3128 http://allowed.test:${port}/
          try --noproxy '*' --resolve allowed.test:${port}:127.0.0.1 http://allowed.test:${port}/
        } | grep -c origin; true`)
      assert.equal(output, 'HTTP/1.1 403 Forbidden\nx-proxy-error: blocked-by-denylist\n0\n')
    }
  })

  test('talks to what it has started itself', async () => {
    await using network = await managed({ domains: DOMAINS })
    const server = `require("net").createServer(s => s.end("HTTP/1.0 200 OK\\r\\n\\r\\nmine")).listen(8000, "127.0.0.1")`
    const output = await network.run(`
      ${process.execPath} -e '${server}' & 
      until curl -s -m 5 http://localhost:8000/; do sleep 0.05; done
      kill $!`)
    assert.equal(output, 'mine')
    assert.deepEqual(network.decisions, [])
  })

  test('finds nobody behind the port when the proxy is closed', async () => {
    const namespaces = new NetworkNamespaces({ command: maker })
    const namespace = await namespaces.create()
    const proxy = await openProxy({
      listener: { fd: namespace.takeListener() },
      rules: proxyRules(wireConfig()),
      onDecision: () => {},
    })
    await proxy.close()
    const { stdout } = await run([...namespace.enter, 'curl', '-s', '-w', '%{exitcode}', 'http://127.0.0.1:3128/'])
    namespace.release()
    namespaces.close()
    assert.equal(stdout, '7')
  })
})

ordinaryUserRuns(import.meta.path)
