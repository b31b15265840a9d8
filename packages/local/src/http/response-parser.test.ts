import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ResponseParser } from './response-parser.ts'

interface Parsed {
  status: number
  headers: [string, string][]
  body: string
  reusable: boolean
}

/** Feeds the bytes cut at the given places, then the end of the stream if `closed`. */
function parse(text: string, { method = 'GET', cuts = [] as number[], closed = false } = {}): Parsed {
  const bytes = Buffer.from(text, 'latin1')
  const parser = new ResponseParser(method)
  let body = ''
  let from = 0
  for (const cut of [...cuts, bytes.length]) {
    const piece = parser.push(Buffer.from(bytes.subarray(from, cut)))
    if (piece) body += Buffer.from(piece).toString('latin1')
    from = cut
  }
  if (closed) parser.end()
  assert.ok(parser.head, 'the head is complete')
  assert.equal(parser.done, true, 'the body is complete')
  const headers = parser.head.headers.map(({ name, value }): [string, string] => [name, value])
  return { status: parser.head.status, headers, body, reusable: parser.reusable }
}

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

describe('a response', () => {
  test('keeps order and repeats of its headers, with names in lower case', () => {
    const text = 'HTTP/1.1 200 OK\r\nX-B:  one \t\r\nx-a:\r\nX-b: t w o\r\nContent-Length: 2\r\n\r\nhi'
    assert.deepEqual(parse(text), {
      status: 200,
      headers: [
        ['x-b', 'one'],
        ['x-a', ''],
        ['x-b', 't w o'],
        ['content-length', '2'],
      ],
      body: 'hi',
      reusable: true,
    })
  })

  test('has values that are text, in UTF-8, and no others', () => {
    const utf8 = Buffer.from('größe').toString('latin1')
    const text = `HTTP/1.1 200 OK\r\nx-utf8: ${utf8}\r\nx-latin1: gr\xf6\xdfe\r\ncontent-length: 0\r\n\r\n`
    assert.deepEqual(parse(text).headers, [
      ['x-utf8', 'größe'],
      ['content-length', '0'],
    ])
  })

  test('may have no reason, any reason, and lines that end in LF alone', () => {
    assert.equal(parse('HTTP/1.1 204\r\n\r\n').status, 204)
    assert.equal(parse('HTTP/1.1 204 \r\n\r\n').status, 204)
    assert.equal(parse('HTTP/1.1 299 S\xfcper gut\r\ncontent-length: 0\r\n\r\n').status, 299)
    assert.equal(parse('HTTP/1.1 200 OK\ncontent-length: 2\n\nhi').body, 'hi')
    // What would be the end of another head belongs to the body of this one.
    const text = 'HTTP/1.1 200 OK\ncontent-length: 8\n\n\r\n\r\nhi\r\n'
    assert.equal(parse(text).body, '\r\n\r\nhi\r\n')
  })

  test('comes after interim responses, which are skipped', () => {
    const text =
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'
    assert.deepEqual(parse(text), { status: 200, headers: [['content-length', '2']], body: 'hi', reusable: true })
  })

  test('without a body has none, whatever its headers say', () => {
    const head = (status: number) => `HTTP/1.1 ${status} X\r\ncontent-length: 5\r\n\r\n`
    assert.equal(parse(head(200), { method: 'HEAD' }).body, '')
    assert.equal(parse(head(204)).body, '')
    assert.equal(parse(head(304)).body, '')
    assert.equal(parse('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', { method: 'HEAD' }).reusable, true)
  })

  test('in chunks is put together, without extensions and trailers', () => {
    const text = `${CHUNKED}5;a=b;c="d"\r\nhello\r\n1 \r\n,\r\n00006\r\n world\r\n0;x\r\nx-trailer: 1\r\nx: 2\r\n\r\n`
    assert.deepEqual(parse(text), {
      status: 200,
      headers: [['transfer-encoding', 'chunked']],
      body: 'hello, world',
      reusable: true,
    })
  })

  test('without a length goes on until the server closes', () => {
    assert.deepEqual(parse('HTTP/1.1 200 OK\r\n\r\nto the end', { closed: true }), {
      status: 200,
      headers: [],
      body: 'to the end',
      reusable: false,
    })
  })

  test('may repeat its length if it is the same', () => {
    assert.equal(parse('HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\ncontent-length: 2\r\n\r\nhi').body, 'hi')
  })
})

describe('a connection', () => {
  const reusable = (head: string, body = '') => parse(`${head}\r\n\r\n${body}`).reusable

  test('is kept when server and version let it', () => {
    assert.equal(reusable('HTTP/1.1 200 OK\r\ncontent-length: 0'), true)
    assert.equal(reusable('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: x, Close'), false)
    assert.equal(reusable('HTTP/1.0 200 OK\r\ncontent-length: 0'), false)
    assert.equal(reusable('HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: Keep-Alive'), true)
    assert.equal(reusable('HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive, close'), false)
  })

  test('is not kept when the length is ambiguous or more comes than belongs to the response', () => {
    const both = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked'
    assert.equal(parse(`${both}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`).body, 'hi')
    assert.equal(reusable(both, '0\r\n\r\n'), false)
    assert.equal(
      reusable('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ntransfer-encoding: chunked', '0\r\n\r\n'),
      false,
    )
    assert.equal(reusable('HTTP/1.1 200 OK\r\ncontent-length: 2', 'hiHTTP/1.1 200 OK\r\n'), false)
    assert.equal(parse('HTTP/1.1 204 X\r\n\r\nsurplus').body, '')
    assert.equal(parse('HTTP/1.1 204 X\r\n\r\nsurplus').reusable, false)
  })

  test('is kept as long as the server says', () => {
    const parser = new ResponseParser('GET')
    parser.push(Buffer.from('HTTP/1.1 204 X\r\nkeep-alive: timeout=5, max=100\r\n\r\n'))
    assert.equal(parser.idleMs, 5000)
  })
})

test('what is malformed is refused', () => {
  const ok = 'HTTP/1.1 200 OK\r\n'
  for (const [text, reason] of [
    ['HTTP/2 200 OK\r\n\r\n', /does not begin/],
    ['HTTP/1.2 200 OK\r\n\r\n', /does not begin/],
    ['HTTP/1.1 20 OK\r\n\r\n', /does not begin/],
    ['HTTP/1.1 2000 OK\r\n\r\n', /does not begin/],
    ['HTTP/1.1 099 OK\r\n\r\n', /does not begin/],
    ['HTTP/1.1  200 OK\r\n\r\n', /does not begin/],
    ['HTTP/1.1 200 O\0K\r\n\r\n', /does not begin/],
    ['\r\nHTTP/1.1 200 OK\r\n\r\n', /does not begin/],
    ['SSH-2.0-OpenSSH\r\n', /does not begin/],
    ['HTTP/1.1 101 Switching\r\n\r\n', /switched to another protocol/],
    [`${ok}no colon\r\n\r\n`, /no valid name/],
    [`${ok}: x\r\n\r\n`, /no valid name/],
    [`${ok}a b: x\r\n\r\n`, /no valid name/],
    [`${ok}a : x\r\n\r\n`, /no valid name/],
    [`${ok}a: x\r\n folded\r\n\r\n`, /no valid name/],
    [`${ok}a: x\ry\r\n\r\n`, /control characters/],
    [`${ok}a: x\0y\r\n\r\n`, /control characters/],
    [`${ok}a: x\r\r\n\r\n`, /control characters/],
    [`${ok}content-length: -1\r\n\r\n`, /is no length/],
    [`${ok}content-length: +1\r\n\r\n`, /is no length/],
    [`${ok}content-length: 1e3\r\n\r\n`, /is no length/],
    [`${ok}content-length: 0x10\r\n\r\n`, /is no length/],
    [`${ok}content-length:\r\n\r\n`, /is no length/],
    [`${ok}content-length: 9999999999999999\r\n\r\n`, /is no length/],
    [`${ok}content-length: 1\r\ncontent-length: 2\r\n\r\n`, /two different lengths/],
    [`${ok}content-length: 1, 2\r\n\r\n`, /two different lengths/],
    [`${ok}content-length: 1\xff\r\n\r\n`, /is not ASCII/],
    // In UTF-8 the sign for Kelvin, which is a `k` in lower case.
    [`${ok}transfer-encoding: chun\xe2\x84\xaaed\r\n\r\n`, /is not ASCII/],
    [`${ok}transfer-encoding: gzip, chunked\r\n\r\n`, /not supported/],
    [`${ok}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n`, /not supported/],
    [`${ok}transfer-encoding: identity\r\n\r\n`, /not supported/],
    [`${ok}transfer-encoding: \x0bchunked\r\n\r\n`, /control characters/],
    [`${CHUNKED}\r\n`, /no valid size/],
    [`${CHUNKED}g\r\n`, /no valid size/],
    [`${CHUNKED}-1\r\n`, /no valid size/],
    [`${CHUNKED}0x1\r\n`, /no valid size/],
    [`${CHUNKED}fffffffffffffffff\r\n`, /no valid size/],
    [`${CHUNKED}1\na\r\n`, /does not end as it should/],
    [`${CHUNKED}1;\rx\r\na\r\n`, /does not end as it should/],
    [`${CHUNKED}1\r\nab\r\n`, /longer than it says/],
    [`${CHUNKED}1\r\na\n`, /longer than it says/],
  ] as const) {
    assert.throws(() => parse(text), reason, JSON.stringify(text))
  }
})

test('what is too large is refused before it is complete', () => {
  const endless = (prefix: string, unit: string) => {
    const parser = new ResponseParser('GET')
    parser.push(Buffer.from(prefix))
    for (let i = 0; i < 1_000_000; i++) parser.push(Buffer.from(unit))
  }
  assert.throws(() => endless('HTTP/1.1 200 ', 'x'.repeat(1000)), /head is larger than 102400 bytes/)
  assert.throws(() => endless('HTTP/1.1 200 OK\r\nx: ', ' '.repeat(1000)), /head is larger/)
  assert.throws(() => endless('HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1000)}\r\n`), /head is larger/)
  assert.throws(() => endless('HTTP/1.1 200 OK\r\n', 'a: b\r\n'), /more than 256 headers/)
  assert.throws(() => endless('', 'HTTP/1.1 100 Continue\r\n\r\n'), /head is larger/)
  assert.throws(() => endless(`${CHUNKED}1;`, 'x'.repeat(1000)), /line before a chunk is too long/)
  assert.throws(() => endless(`${CHUNKED}0\r\n`, 'x: y\r\n'), /trailers are too large/)
})

test('how large a head may be does not depend on how it comes', () => {
  for (let more = 0; more < 6; more++) {
    const start = 'HTTP/1.1 200 OK\r\nx: '
    const end = '\r\ncontent-length: 0\r\n\r\n'
    const text = `${start}${'y'.repeat(102_400 - 2 + more - start.length - end.length)}${end}`
    const outcome = (cuts: number[]) => {
      try {
        return parse(text, { cuts }).status
      } catch (error) {
        return (error as Error).message
      }
    }
    assert.equal(outcome([]), outcome([10]), `${text.length} bytes`)
  }
})

test('a body that is cut is an error', () => {
  const cut = (text: string) => () => parse(text, { closed: true })
  assert.throws(cut(''), /closed before the response was complete/)
  assert.throws(cut('HTTP/1.1 200 OK\r\nx: y\r\n'), /closed before the response was complete/)
  assert.throws(cut('HTTP/1.1 100 Continue\r\n\r\n'), /closed before the response was complete/)
  assert.throws(cut('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc'), /middle of the body, 2 bytes are missing/)
  for (const rest of ['', '5', '5\r\n', '5\r\nabc', '1\r\na', '1\r\na\r\n', '0\r\n', '0\r\nx: y\r\n']) {
    assert.throws(cut(CHUNKED + rest), /closed in the middle of the body/, rest)
  }
})

test('it does not matter where the network cuts a response', () => {
  const body = fc.array(fc.stringMatching(/^[a-z\r\n]{1,20}$/), { maxLength: 8 })
  const responses = fc.tuple(body, fc.constantFrom('sized', 'chunked', 'close')).map(([pieces, framing]) => {
    const text = pieces.join('')
    const head = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-One: a\r\nx-two: b\r\n'
    if (framing === 'sized') return { text, wire: `${head}content-length: ${text.length}\r\n\r\n${text}` }
    if (framing === 'close') return { text, wire: `${head}\r\n${text}` }
    const chunks = pieces.map((piece) => `${piece.length.toString(16)};ext=1\r\n${piece}\r\n`).join('')
    return { text, wire: `${head}transfer-encoding: chunked\r\n\r\n${chunks}0\r\ntrailer: x\r\n\r\n` }
  })
  fc.assert(
    fc.property(responses, fc.array(fc.nat(400), { maxLength: 12 }), ({ text, wire }, places) => {
      const cuts = places.filter((place) => place < wire.length).sort((a, b) => a - b)
      const whole = parse(wire, { closed: true })
      assert.equal(whole.body, text)
      assert.deepEqual(parse(wire, { cuts, closed: true }), whole)
      assert.deepEqual(parse(wire, { cuts: Array.from(wire, (_, i) => i), closed: true }), whole)
    }),
    { numRuns: 300 },
  )
})

test('a head means the same, and is refused for the same, whether it comes whole or byte by byte', () => {
  const outcome = (pieces: Buffer[]) => {
    const parser = new ResponseParser('GET')
    try {
      const bodies = pieces.map((piece) => parser.push(piece)).filter((piece) => piece !== undefined)
      const { head, done, reusable, idleMs } = parser
      return { head, done, reusable, idleMs, body: Buffer.concat(bodies).toString('latin1') }
    } catch (error) {
      return (error as Error).message
    }
  }
  const name = fc.constantFrom('Content-Length', 'connection', 'Keep-Alive', 'transfer-encoding', 'x-A', 'b c', '', 'é')
  const value = fc.constantFrom(
    '3',
    '3, 3',
    ' \t3 \t',
    'close',
    'Keep-Alive, x',
    'timeout=5',
    'chunked',
    'é\xff',
    '\x01',
    '',
  )
  const line = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.tuple(name, fc.constantFrom(':', ': ', ':\t', ''), value).map((parts) => parts.join('')),
    },
    { weight: 1, arbitrary: fc.constantFrom(' folded', 'HTTP/1.1 200 OK', ':', '') },
  )
  const status = fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.0 404',
    'HTTP/1.1 204 ',
    'HTTP/1.1 100 Go on',
    'HTTP/1.1 2000',
    '',
  )
  const end = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r\r\n')
  const head = fc
    .tuple(status, fc.array(fc.tuple(end, line), { maxLength: 6 }), end)
    .map(([first, lines, last]) => `${first}${lines.flat().join('')}${last}\r\n123`)
  fc.assert(
    fc.property(head, (text) => {
      const bytes = Buffer.from(text, 'latin1')
      const single = Array.from(bytes, (byte) => Buffer.from([byte]))
      assert.deepEqual(outcome([Buffer.from(bytes)]), outcome(single))
    }),
    { numRuns: 3000 },
  )
})

test('no bytes whatever make the parser do anything but parse or refuse', () => {
  const fragment = fc.constantFrom('HTTP/1.1 200 OK', '\r\n', '\n', '\r', ':', 'content-length: 3', 'a', '0', ';', ' ')
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fragment, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 40 }),
      (parts) => {
        const parser = new ResponseParser('GET')
        try {
          for (const part of parts) parser.push(Buffer.from(part, 'latin1'))
          parser.end()
        } catch (error) {
          assert.match((error as Error).message, /^the (response is malformed|connection was closed)/)
        }
      },
    ),
    { numRuns: 2000 },
  )
})
