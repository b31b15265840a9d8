import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fails, givesUp, until } from '../collect.ts'
import { type Setting, unrepeated } from './setting.ts'

const MiB = 1024 * 1024

async function startHttp(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}

export function httpBehaviour(setting: Setting): void {
  const { open } = setting
  /** A request is never sent twice, and its body ends with its connection. */
  const ask = <T>(act: () => Promise<T>) => unrepeated(setting, act)

  test('a request has its method, headers and body, and any status is an answer', async () => {
    await using env = open()
    await using server = await startHttp(async (request, response) => {
      const body = await bodyOf(request)
      response.writeHead(418, { 'x-method': request.method, 'set-cookie': ['a=1', 'b=2'] })
      response.end(`${request.headers['x-mine']} ${body}`)
    })
    const answer = await ask(async () => {
      const headers = { 'x-mine': 'yes' }
      const response = await env.http.request(server.url, { method: 'PUT', headers, body: 'the body' })
      return { ...response, text: await response.text() }
    })
    assert.equal(answer.status, 418)
    assert.equal(answer.text, 'yes the body')
    const values = (name: string) => answer.headers.filter((each) => each.name === name).map(({ value }) => value)
    assert.deepEqual(values('x-method'), ['PUT'])
    assert.deepEqual(values('set-cookie'), ['a=1', 'b=2'])
  })

  test('a body comes as it is sent', async () => {
    await using env = open()
    let sendMore: (() => void) | undefined
    await using server = await startHttp((_, response) => {
      response.write('first')
      sendMore = () => response.end('second')
    })
    await ask(async () => {
      const { body } = await env.http.request(server.url)
      const reader = body.getReader()
      assert.equal(Buffer.from((await reader.read()).value!).toString(), 'first')
      sendMore?.()
      assert.equal(Buffer.from((await reader.read()).value!).toString(), 'second')
      assert.equal((await reader.read()).done, true)
    })
  })

  test('a reader that is slow is waited for, and one that leaves ends the request', {
    skip: setting.cuts,
  }, async () => {
    await using env = open()
    let sent = 0
    let gone = false
    await using server = await startHttp((_, response) => {
      const piece = Buffer.alloc(256 * 1024, 'x')
      const more = () => {
        while (sent < 1024 * MiB && !gone) {
          sent += piece.length
          if (!response.write(piece)) return
        }
      }
      response.on('drain', more)
      response.on('close', () => {
        gone = true
      })
      more()
    })
    const { body } = await env.http.request(server.url)
    const reader = body.getReader()
    await reader.read()
    await stalled(() => sent)
    assert.ok(sent < 128 * MiB, `${sent} bytes were sent to somebody who does not read`)
    // Everybody else is not.
    assert.equal(await env.files.exists('/'), true)
    const before = sent
    for (let read = 0; read < 2 * before; ) read += (await reader.read()).value!.length
    assert.ok(sent > before)
    await reader.cancel()
    await until(() => gone)
  })

  test('fetch is the standard function', async () => {
    await using env = open()
    await using server = await startHttp(async (request, response) => {
      if (request.url === '/there') response.writeHead(302, { location: '/here' }).end()
      else if (request.url === '/empty') response.writeHead(204).end()
      else response.setHeader('content-type', 'application/json').end(JSON.stringify({ body: await bodyOf(request) }))
    })
    const { fetch } = { fetch: env.http.fetch.bind(env.http) }
    const json = await ask(async () => {
      const response = await fetch(`${server.url}/there`, { headers: { a: 'b' } })
      assert.ok(response.ok)
      return await response.json()
    })
    assert.deepEqual(json, { body: '' })
    const posted = await ask(
      async () => await (await fetch(new URL(server.url), { method: 'POST', body: 'x=1' })).json(),
    )
    assert.deepEqual(posted, { body: 'x=1' })
    assert.equal((await ask(() => fetch(`${server.url}/empty`))).status, 204)
    assert.equal((await ask(() => fetch(`${server.url}/there`, { redirect: 'manual' }))).status, 302)
    await assert.rejects(
      ask(() => fetch(`${server.url}/there`, { redirect: 'error' })),
      TypeError,
    )
  })

  test('no answer is HTTP_FAILED, nonsense HTTP_INVALID, and too long is a failure', async () => {
    await using env = open()
    await using silent = await startHttp(() => {})
    await using broken = await startHttp((_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('part')
      setTimeout(() => response.destroy(), 50)
    })
    await fails(
      ask(() => env.http.request('http://127.0.0.1:1/')),
      'HTTP_FAILED',
    )
    await fails(
      ask(() => env.http.request('nonsense')),
      'HTTP_INVALID',
    )
    await fails(
      ask(() => env.http.request('http://127.0.0.1/', { method: 'BAD METHOD' })),
      'HTTP_INVALID',
    )
    await fails(
      ask(() => env.http.request(silent.url, { timeoutMs: 50 })),
      'HTTP_FAILED',
    )
    await fails(
      ask(async () => await (await env.http.request(broken.url)).bytes()),
      'HTTP_FAILED',
    )
  })

  test('a request can be given up before and after its answer', async () => {
    await using env = open()
    let closed = 0
    await using server = await startHttp((request, response) => {
      response.on('close', () => closed++)
      if (request.url === '/body') response.write('some')
    })
    await env.ready()
    await givesUp((signal) => env.http.request(server.url, { signal }))
    await givesUp((signal) => env.http.fetch(server.url, { signal }))
    const reason = new Error('no more')
    await ask(async () => {
      const controller = new AbortController()
      const { body } = await env.http.request(`${server.url}/body`, { signal: controller.signal })
      const reader = body.getReader()
      await reader.read()
      const next = reader.read()
      controller.abort(reason)
      await assert.rejects(next, (error) => error === reason)
    })
    await until(() => closed > 0)
  })
}

/** Resolves when a number has not grown for a while. */
async function stalled(value: () => number): Promise<void> {
  for (let before = -1, still = 0; still < 25; before = value()) {
    still = value() === before ? still + 1 : 0
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
