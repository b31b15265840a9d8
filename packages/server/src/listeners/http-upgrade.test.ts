import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { answerRequest } from './http-upgrade.ts'
import { parseRequestHead } from './request-head.ts'

const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: x',
  'Connection: keep-alive, Upgrade',
  'Upgrade: WebSocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const ask = (lines: string[], authenticate?: (authorization: string | null) => string | undefined) =>
  answerRequest(parseRequestHead(lines.join('\r\n')), { authenticate }).text
const without = (name: string) => UPGRADE.filter((line) => !line.startsWith(name))
const statusOf = (answer: string) => Number(answer.split(' ')[1])

describe('a request to upgrade', () => {
  test('is answered with the hash of its key', () => {
    assert.equal(
      ask(UPGRADE),
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
        'sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    )
  })

  test('that offers names for the protocol gets the first', () => {
    assert.match(ask([...UPGRADE, 'Sec-WebSocket-Protocol: a, b']), /\r\nsec-websocket-protocol: a\r\n/)
  })

  test('without what it takes is told what is missing', () => {
    const cases: [string[], number, RegExp][] = [
      [without('Connection'), 400, /Connection header did not include 'upgrade'$/],
      [without('Upgrade'), 400, /Connection header did not include 'upgrade'$/],
      [UPGRADE.map((line) => line.replace('/1.1', '/1.0')), 400, /did not include/],
      [without('Sec-WebSocket-Version'), 426, /\r\nsec-websocket-version: 13\r\n/],
      [UPGRADE.map((line) => line.replace(': 13', ': 8')), 426, /\r\nsec-websocket-version: 13\r\n/],
      [without('Sec-WebSocket-Key'), 400, /Sec-WebSocket-Key/],
      [UPGRADE.map((line) => line.replace('==', '=')), 400, /Sec-WebSocket-Key/],
      [[...UPGRADE, 'Content-Length: 5'], 400, /no body/],
      [[...UPGRADE, 'Transfer-Encoding: chunked'], 400, /no body/],
      [[...UPGRADE, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='], 400, /./],
      [[...UPGRADE, 'Host: y'], 400, /./],
      [without('Host'), 400, /./],
    ]
    for (const [lines, status, text] of cases) {
      const answer = ask(lines)
      assert.equal(statusOf(answer), status, answer)
      assert.match(answer, text)
      assert.match(answer, /\r\nconnection: close\r\n/)
    }
  })

  test('is refused where it must authenticate and does not, with the reason', () => {
    const authenticate = (authorization: string | null) => (authorization === 'Bearer x' ? undefined : 'who are you?')
    assert.equal(statusOf(ask([...UPGRADE, 'Authorization: Bearer x'], authenticate)), 101)
    assert.equal(
      ask(UPGRADE, authenticate),
      'HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-type: text/plain;charset=utf-8\r\n' +
        'content-length: 12\r\nconnection: close\r\n\r\nwho are you?',
    )
  })
})

describe('other requests', () => {
  test('each get their status', () => {
    const cases: [string, number][] = [
      ['GET /readyz', 200],
      ['GET http://somewhere:80/readyz?x=1', 200],
      ['HEAD /readyz', 200],
      ['POST /readyz', 405],
      ['GET /readyz/', 404],
      ['GET /other', 404],
      ['POST /', 405],
      ['HEAD /', 405],
      ['GET /', 400],
      ['GET http://somewhere', 400],
      ['OPTIONS *', 400],
      ['CONNECT x:80', 400],
    ]
    for (const [request, status] of cases) {
      const answer = ask([`${request} HTTP/1.1`, 'Host: x'])
      assert.equal(statusOf(answer), status, request)
      if (request.startsWith('HEAD')) assert.match(answer, /\r\n\r\n$/)
    }
    assert.equal(statusOf(ask(['GET /readyz HTTP/1.0'])), 200)
  })

  test('of a web page are refused, whatever they ask for', () => {
    for (const lines of [UPGRADE, ['GET /readyz HTTP/1.1', 'Host: x'], ['PUT /x HTTP/1.1', 'Host: x']]) {
      assert.equal(statusOf(ask([...lines, 'Origin: http://evil.example'])), 403)
    }
  })

  test('that are not HTTP to the letter are malformed', () => {
    const heads = [
      '',
      'GET /',
      'GET  / HTTP/1.1',
      'GET / HTTP/1.1 ',
      'GET / HTTP/2.0',
      'get\0 / HTTP/1.1',
      'GET /\x01 HTTP/1.1',
      'GET / HTTP/1.1\nHost: x',
      'GET / HTTP/1.1\r\nHost : x',
      'GET / HTTP/1.1\r\n Host: x',
      'GET / HTTP/1.1\r\nHost: x\r\n folded',
      'GET / HTTP/1.1\r\nHost: x\r\nno colon',
      'GET / HTTP/1.1\r\nHost: x\r\nA: b\nOrigin: c',
      'GET / HTTP/1.1\r\nHost: x\r\nA: b\0',
      'GET / HTTP/1.1\r\nHost: x\r\n: nameless',
    ]
    for (const head of heads) assert.equal(parseRequestHead(head), undefined, JSON.stringify(head))
  })
})
