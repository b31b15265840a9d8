import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { limits } from '@waldo/protocol'
import { eventually } from '@waldo/testkit'
import type { Wire, WireEvents } from '../wire.ts'
import { listenForWebSockets, type WebSocketListenerOptions } from './websocket-listener.ts'

const MiB = 1024 * 1024
const UPGRADE = [
  'GET / HTTP/1.1',
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n')

/** A listener that writes down what its connections are told. */
function start(options: Partial<WebSocketListenerOptions> = {}, on: Partial<WireEvents> = {}) {
  const wires: Wire[] = []
  const events: string[] = []
  const listener = listenForWebSockets({
    at: { host: '127.0.0.1', port: 0 },
    tls: undefined,
    authenticate: undefined,
    isFromSandbox: () => false,
    connect(wire) {
      wires.push(wire)
      const add = (event: string, then?: () => void) => {
        events.push(event)
        then?.()
      }
      return {
        received: (text) => add(text.length > 100 ? `${text.length} characters` : text, () => on.received?.(text)),
        ponged: (token) => add(`pong ${token}`, () => on.ponged?.(token)),
        drained: () => add('drained', () => on.drained?.()),
        closed: () => add('closed', () => on.closed?.()),
      }
    },
    ...options,
  })
  return { ...listener, wires, events, [Symbol.dispose]: () => listener.stop() }
}

/** A socket that says what it is told to and keeps what comes. */
async function dial(port: number) {
  const parts: Buffer[] = []
  const state = { ended: false }
  let unsent = Buffer.alloc(0)
  const flush = () => {
    const taken = socket.write(unsent)
    if (taken > 0) unsent = unsent.subarray(taken)
  }
  const ended = () => {
    state.ended = true
  }
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: { data: (_, chunk) => void parts.push(chunk), end: ended, close: ended, error() {}, drain: flush },
  })
  return {
    socket,
    state,
    send(...data: (string | Uint8Array)[]) {
      unsent = Buffer.concat([unsent, ...data.map((part) => Buffer.from(part as string))])
      flush()
    },
    get bytes() {
      return Buffer.concat(parts)
    },
    [Symbol.dispose]: () => socket.terminate(),
  }
}

async function upgraded(port: number) {
  const client = await dial(port)
  client.send(UPGRADE)
  await eventually(() => client.bytes.includes('\r\n\r\n'), 'the upgrade')
  return client
}

function frame(opcode: number, payload: string | Uint8Array, first = 0x80 | opcode): Uint8Array {
  const bytes = Buffer.from(payload as string)
  const header =
    bytes.length < 126 ? [first, 0x80 | bytes.length] : [first, 0xfe, bytes.length >> 8, bytes.length & 255]
  return Uint8Array.from([...header, 7, 7, 7, 7, ...bytes.map((byte) => byte ^ 7)])
}

const closeFrame = (code: number, reason = '') =>
  frame(8, Buffer.from([code >> 8, code & 0xff, ...Buffer.from(reason)]))

/** What the server has sent after the upgrade. */
function* framesOf(bytes: Buffer): Generator<{ first: number; payload: Buffer }> {
  for (let at = bytes.indexOf('\r\n\r\n') + 4; at + 1 < bytes.length; ) {
    const short = bytes[at + 1]!
    const [length, header] =
      short < 126 ? [short, 2] : short === 126 ? [bytes.readUInt16BE(at + 2), 4] : [bytes.readUInt32BE(at + 6), 10]
    if (bytes.length < at + header + length) return
    yield { first: bytes[at]!, payload: bytes.subarray(at + header, at + header + length) }
    at += header + length
  }
}
const closeOf = (bytes: Buffer) => [...framesOf(bytes)].find(({ first }) => first === 0x88)?.payload.readUInt16BE(0)

describe('before the upgrade', () => {
  test('a request may come byte by byte, and frames may come right behind it', async () => {
    using server = start()
    using slow = await dial(server.port)
    for (const byte of Buffer.from(UPGRADE)) {
      slow.send(Uint8Array.of(byte))
      await Bun.sleep(0)
    }
    using fast = await dial(server.port)
    fast.send(UPGRADE, frame(1, 'at once'))
    await eventually(() => server.wires.length === 2 && server.events.length === 1, 'both')
    assert.deepEqual(server.events, ['at once'])
    assert.match(server.wires[0]!.peer, /^127\.0\.0\.1:\d+$/)
  })

  test('whoever is refused can read why, though it is still sending', async () => {
    using server = start()
    const cases: [string, RegExp][] = [
      [
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n${'x'.repeat(3 * MiB)}`,
        /^HTTP\/1\.1 405 .*GET`$/s,
      ],
      [`GET /${'x'.repeat(17_000)}`, /^HTTP\/1\.1 400 /],
      ['\0\0\0\0\r\n\r\n', /^HTTP\/1\.1 400 /],
      [
        'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n',
        /^HTTP\/1\.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n$/,
      ],
    ]
    for (const [request, answer] of cases) {
      using client = await dial(server.port)
      client.send(request)
      await eventually(() => client.state.ended, 'the end')
      assert.match(client.bytes.toString('latin1'), answer)
    }
    assert.equal(server.wires.length, 0)
  })

  test('whoever does not get to the point is cut off, and so is everybody when the listener stops', async () => {
    const server = start()
    using silent = await dial(server.port)
    using dripping = await dial(server.port)
    dripping.send('GET / HTTP/1.1\r\n')
    const drip = setInterval(() => dripping.send('A: b\r\n'), 100)
    await eventually(() => silent.state.ended && dripping.state.ended, 'the end')
    clearInterval(drip)
    using late = await dial(server.port)
    server.stop()
    await eventually(() => late.state.ended, 'the end')
    assert.equal(server.wires.length, 0)
  })
})

describe('messages', () => {
  test('go both ways, on TCP, TLS and a unix socket', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'waldo-ws-'))
    const fixture = (name: string) => Bun.file(join(import.meta.dir, '../../../../tests/fixtures', name)).text()
    const tls = { cert: await fixture('localhost.cert.pem'), key: await fixture('localhost.key.pem') }
    const unix = join(directory, 'socket')
    const cases: [Partial<WebSocketListenerOptions>, (port: number) => string][] = [
      [{}, (port) => `ws://127.0.0.1:${port}`],
      [{ tls }, (port) => `wss://127.0.0.1:${port}`],
      [{ at: { unix } }, () => `ws+unix://${unix}`],
    ]
    for (const [options, url] of cases) {
      using server = start(options, { received: (text) => server.wires[0]!.send(text) })
      const socket = new WebSocket(url(server.port), { tls: { rejectUnauthorized: false } })
      const answers: string[] = []
      socket.onmessage = ({ data }) => answers.push(data as string)
      await new Promise((resolve) => {
        socket.onopen = resolve
      })
      const texts = ['small', 'ü€😀', '', 'x'.repeat(MiB), `${'😀x'.repeat(5 * MiB)}`]
      for (const text of texts) socket.send(text)
      await eventually(() => answers.length === texts.length, 'the answers')
      assert.ok(answers.every((answer, i) => answer === texts[i]))
      socket.close()
      await eventually(() => server.events.includes('closed'), 'the end')
    }
    rmSync(directory, { recursive: true })
  })

  test('in binary frames are text too', async () => {
    using server = start()
    using client = await upgraded(server.port)
    client.send(frame(2, '{"ü":1}'), frame(2, Uint8Array.of(0xff)))
    await eventually(() => server.events.length === 2, 'both')
    assert.deepEqual(server.events, ['{"ü":1}', '\ufffd'])
  })

  test('of a megabyte and more leave in frames of at most 8 MiB, to a client that takes its time', async () => {
    using server = start()
    using client = await upgraded(server.port)
    const [wire] = server.wires
    client.socket.pause()
    wire!.send('y'.repeat(20 * MiB))
    wire!.ping('mark')
    await Bun.sleep(50)
    assert.ok(wire!.queuedBytes > 5 * MiB)
    assert.deepEqual(server.events, [])
    client.socket.resume()
    await eventually(() => server.events.length === 1, 'the queue to be empty')
    assert.equal(wire!.queuedBytes, 0)
    await eventually(() => [...framesOf(client.bytes)].length === 4, 'all')
    assert.deepEqual(
      [...framesOf(client.bytes)].map(({ first, payload }) => [first, payload.length]),
      [
        [0x01, 8 * MiB],
        [0x00, 8 * MiB],
        [0x80, 4 * MiB],
        [0x89, 4],
      ],
    )
    client.send(frame(10, 'mark'))
    await eventually(() => server.events.length === 2, 'the pong')
    assert.deepEqual(server.events, ['drained', 'pong mark'])
  })

  test('that are sent together leave together, and pings are answered', async () => {
    using server = start()
    using client = await upgraded(server.port)
    server.wires[0]!.batch(() => {
      for (let i = 0; i < 1000; i++) server.wires[0]!.send(`${i}`)
    })
    client.send(frame(9, 'are you there?'))
    await eventually(() => [...framesOf(client.bytes)].length === 1001, 'all')
    const texts = [...framesOf(client.bytes)].map(({ payload }) => payload.toString())
    assert.deepEqual(texts, [...Array.from({ length: 1000 }, (_, i) => `${i}`), 'are you there?'])
  })

  test('wait while reading is paused, and come in order', async () => {
    using server = start(
      {},
      {
        received(text) {
          if (text === 'one') server.wires[0]!.pauseReading()
        },
      },
    )
    using client = await upgraded(server.port)
    client.send(frame(1, 'one'), frame(1, 'two'))
    await Bun.sleep(20)
    client.send(frame(1, 'three'))
    await Bun.sleep(20)
    assert.deepEqual(server.events, ['one'])
    server.wires[0]!.resumeReading()
    assert.deepEqual(server.events, ['one'], 'whoever resumes goes first')
    await eventually(() => server.events.length === 3, 'the others')
    assert.deepEqual(server.events, ['one', 'two', 'three'])
  })
})

describe('the end', () => {
  test('a goodbye of the client is returned, after what it is still to get', async () => {
    using server = start({}, { received: () => server.wires[0]!.send('answer') })
    using client = await upgraded(server.port)
    client.send(frame(1, 'question'), closeFrame(4321, 'bye'), frame(1, 'too late'))
    await eventually(() => client.state.ended, 'the end')
    assert.deepEqual(server.events, ['question', 'closed'])
    assert.deepEqual(
      [...framesOf(client.bytes)].map(({ payload }) => payload.toString('latin1')),
      ['answer', '\x10\xe1'],
    )
  })

  test('our goodbye comes after what was sent, and waits for the answer even while reading is paused', async () => {
    using server = start()
    using client = await upgraded(server.port)
    const [wire] = server.wires
    wire!.pauseReading()
    wire!.send('last')
    wire!.close(1001, `we are leaving${'!'.repeat(200)}`)
    wire!.send('never')
    await eventually(() => closeOf(client.bytes) === 1001, 'the goodbye')
    const [last, close] = [...framesOf(client.bytes)]
    assert.deepEqual([last!.payload.toString(), close!.payload.length], ['last', 125])
    assert.deepEqual(server.events, [])
    client.send(frame(1, 'too late'), closeFrame(1001))
    await eventually(() => client.state.ended, 'the end')
    assert.deepEqual(server.events, ['closed'])
  })

  test('whoever does not answer our goodbye is left', async () => {
    using server = start()
    using client = await upgraded(server.port)
    server.wires[0]!.close(1000, '')
    await eventually(() => client.state.ended, 'the end')
    await eventually(() => server.events.length > 0, 'the end here')
    assert.deepEqual(server.events, ['closed'])
  })

  test('whoever breaks the rules is told the code, though it is still sending', async () => {
    using server = start()
    const tooLarge = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x04, 0, 0, 1, 0, 0, 0, 0])
    const cases: [number, Uint8Array][] = [
      [1002, frame(3, 'x')],
      [1007, frame(1, Uint8Array.of(0xff))],
      [1009, Buffer.concat([tooLarge, Buffer.alloc(5 * MiB)])],
    ]
    assert.equal(tooLarge.readUInt32BE(6), limits.messageBytes + 1)
    for (const [code, bytes] of cases) {
      server.events.length = 0
      using client = await upgraded(server.port)
      client.send(frame(1, 'fine'), bytes)
      await eventually(() => client.state.ended, 'the end')
      assert.equal(closeOf(client.bytes), code)
      assert.deepEqual(server.events, ['fine', 'closed'])
    }
  })

  test('a client that goes without a word, and one that we cut off', async () => {
    using server = start()
    const client = await upgraded(server.port)
    client.socket.terminate()
    await eventually(() => server.events.length === 1, 'the end')
    using other = await upgraded(server.port)
    server.wires[1]!.terminate()
    server.wires[1]!.terminate()
    server.wires[1]!.send('x')
    server.wires[1]!.pauseReading()
    server.wires[1]!.resumeReading()
    server.wires[1]!.close(1000, '')
    await eventually(() => other.state.ended, 'the end')
    assert.deepEqual(server.events, ['closed', 'closed'])
  })

  test('a client that takes nothing while more and more is sent', async () => {
    using server = start()
    using client = await upgraded(server.port)
    client.socket.pause()
    const text = 'z'.repeat(limits.messageBytes)
    for (let i = 0; i < 6; i++) server.wires[0]!.send(text)
    await eventually(() => server.events.length > 0, 'the end')
    assert.deepEqual(server.events, ['closed'])
  })

  test('a defect in what handles a message ends that connection alone, and is reported', async () => {
    const script = `
      import { listenForWebSockets } from '${join(import.meta.dir, 'websocket-listener.ts')}'
      const listener = listenForWebSockets({
        at: { host: '127.0.0.1', port: 0 }, tls: undefined, authenticate: undefined, isFromSandbox: () => false,
        connect: (wire) => ({
          received(text) { if (text === 'bad') throw new Error('a defect'); wire.send(text) },
          ponged() {}, drained() {}, closed() {},
        }),
      })
      console.log(listener.port)`
    const child = Bun.spawn([process.execPath, '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    const { value } = await child.stdout.getReader().read()
    const port = Number(new TextDecoder().decode(value))
    using good = await upgraded(port)
    using bad = await upgraded(port)
    bad.send(frame(1, 'bad'))
    await eventually(() => bad.state.ended, 'the end')
    good.send(frame(1, 'good'))
    await eventually(() => good.bytes.includes('good'), 'an answer')
    child.kill()
    assert.match(await child.stderr.text(), /a defect/)
  })
})
