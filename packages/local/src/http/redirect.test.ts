import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AddressPolicy } from './address-policy.ts'
import { certificate, fails, get, type RawServer, rawServer, readAll, reply, testClient } from './fixtures/servers.ts'
import type { HttpRequest } from './http-client.ts'

/** Answers `/status/<code>?<location>` with that redirect, and everything else with "arrived". */
function redirector(options?: { tls?: boolean; host?: string }): Promise<RawServer> {
  return rawServer(({ text, socket }) => {
    const [, status, location] = /^\S+ \/status\/(\d+)\?(\S+)/.exec(text) ?? []
    if (status === undefined) socket.write(reply('arrived'))
    else
      socket.write(reply('moved', { status: Number(status), headers: [`Location: ${decodeURIComponent(location!)}`] }))
  }, options)
}

const via = (server: RawServer, status: number, location: string) =>
  `${server.url}/status/${status}?${encodeURIComponent(location)}`
const names = ({ text }: { text: string }) => [...text.matchAll(/^([\w-]+): /gm)].map(([, name]) => name!.toLowerCase())

describe('a redirect', () => {
  test('is followed with the method that ordinary clients use', async () => {
    await using server = await redirector()
    using client = testClient()
    for (const [status, method, then] of [
      [301, 'POST', 'GET'],
      [302, 'POST', 'GET'],
      [303, 'POST', 'GET'],
      [307, 'POST', 'POST'],
      [308, 'POST', 'POST'],
      [301, 'PUT', 'PUT'],
      [302, 'DELETE', 'DELETE'],
      [303, 'PUT', 'GET'],
      [303, 'HEAD', 'HEAD'],
      [301, 'HEAD', 'HEAD'],
      [302, 'GET', 'GET'],
    ] as const) {
      server.requests.length = 0
      const withBody = method !== 'HEAD' && method !== 'GET'
      const request: HttpRequest = get(via(server, status, '/there?x=1#y'), {
        method,
        body: withBody ? Buffer.from('body') : undefined,
        headers: [{ name: 'Content-Type', value: 'text/plain' }],
      })
      const response = await client.request(request)
      assert.equal(response.status, 200)
      await readAll(response)
      const { text } = server.requests[1]!
      const label = `${status} ${method}`
      assert.ok(text.startsWith(`${then} /there?x=1 HTTP/1.1\r\n`), label)
      assert.equal(text.endsWith('body'), withBody && then === method, label)
      assert.equal(names({ text }).includes('content-type'), then === method, label)
    }
  })

  test('is the response if the caller wants that, or if it leads nowhere', async () => {
    await using server = await rawServer(({ socket }) => socket.write(reply('moved', { status: 302 })))
    await using other = await redirector()
    using client = testClient()
    const stopped = await client.request(get(via(other, 302, '/there'), { redirects: 'stop' }))
    assert.equal(stopped.status, 302)
    assert.equal(await readAll(stopped), 'moved')
    assert.equal((await client.request(get(server.url))).status, 302)
    assert.equal((await client.request(get(via(other, 304, '/there')))).status, 304)
  })

  test('takes secrets along to the same origin only', async () => {
    await using a = await redirector()
    await using b = await redirector()
    using client = testClient()
    const headers = [
      { name: 'Authorization', value: 'Bearer x' },
      { name: 'Cookie', value: 'a=b' },
      { name: 'Proxy-Authorization', value: 'x' },
      { name: 'X-Api-Key', value: 'k', secret: true as const },
      { name: 'X-Plain', value: 'p' },
      { name: 'Host', value: 'a.example' },
    ]
    await readAll(await client.request(get(via(a, 307, '/same'), { headers })))
    assert.deepEqual(names(a.requests[1]!), [...headers.map(({ name }) => name.toLowerCase()), 'accept'])
    await readAll(await client.request(get(via(a, 307, `${b.url}/other`), { headers })))
    assert.deepEqual(names(b.requests[0]!), ['host', 'x-plain', 'accept'])
    assert.match(b.requests[0]!.text, new RegExp(`host: 127.0.0.1:${b.port}\r\n`))
    const userinfo = via(a, 307, `${b.url}/other`).replace('://', '://user:pass@')
    await readAll(await client.request(get(userinfo)))
    assert.deepEqual(names(b.requests[1]!), ['host', 'accept'])
    const same = via(a, 307, `${a.url}/same`).replace('://', '://user:pass@')
    await readAll(await client.request(get(same)))
    assert.deepEqual(names(a.requests.at(-1)!), ['host', 'authorization', 'accept'])
  })

  test('from https to http leaves secrets behind', async () => {
    await using secure = await redirector({ tls: true })
    await using plain = await redirector()
    using client = testClient({ ca: certificate })
    const headers = [{ name: 'authorization', value: 'x' }]
    await readAll(await client.request(get(via(secure, 302, plain.url), { headers })))
    assert.deepEqual(names(plain.requests[0]!), ['host', 'accept'])
  })

  test('in circles ends after ten', async () => {
    await using server = await rawServer(({ socket, nth }) =>
      socket.write(reply('', { status: 302, headers: [`location: /${nth}`] })),
    )
    using client = testClient()
    const request = client.request(get(server.url))
    await assert.rejects(
      request,
      fails('HTTP_FAILED', /^error sending request for url \(.*\): more than 10 redirects$/),
    )
    assert.equal(server.requests.length, 11)
    assert.equal(server.accepted(), 1)
  })

  test('to ten places is followed to the last', async () => {
    await using server = await rawServer(({ socket, nth }) =>
      socket.write(nth > 10 ? reply('arrived') : reply('', { status: 302, headers: [`location: /${nth}`] })),
    )
    using client = testClient()
    assert.equal(await readAll(await client.request(get(server.url))), 'arrived')
  })

  test('to something that is not on the web is an error', async () => {
    await using server = await redirector()
    using client = testClient()
    for (const [location, message] of [
      ['file:///etc/passwd', /: redirected to file:, only http: and https: are followed$/],
      ['javascript:alert(1)', /: redirected to javascript:/],
      ['http://[bad', /: redirected to something that is no URL: "http:\/\/\[bad"$/],
      ['http://a:99999/', /: redirected to something that is no URL/],
    ] as const) {
      await assert.rejects(client.request(get(via(server, 302, location))), fails('HTTP_FAILED', message))
    }
  })

  test('is subject to the policy like the request itself', async () => {
    await using a = await redirector()
    await using b = await redirector()
    const policy = new AddressPolicy({ mode: 'allow', allow: [`127.0.0.1:${a.port}`], localAllowed: false })
    using client = testClient({ policy })
    assert.equal(await readAll(await client.request(get(via(a, 302, '/same')))), 'arrived')
    for (const location of [b.url, `http://localhost:${b.port}`, 'http://169.254.169.254/latest/meta-data/']) {
      await assert.rejects(client.request(get(via(a, 302, location))), fails('HTTP_DENIED', /may not talk to/))
    }
    assert.equal(b.accepted(), 0)
  })

  test('whose body does not end is left, and the answer comes from elsewhere', async () => {
    await using server = await rawServer(({ text, socket }) => {
      if (text.startsWith('GET /there')) socket.write(reply('arrived'))
      else socket.write('HTTP/1.1 302 Found\r\nlocation: /there\r\ntransfer-encoding: chunked\r\n\r\n5\r\nmoved\r\n')
    })
    using client = testClient()
    assert.equal(await readAll(await client.request(get(server.url))), 'arrived')
    assert.equal(server.accepted(), 2)
  })
})
