import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { clientFrame } from './client-frame.ts'
import { SocketTransport } from './socket-transport.ts'

/** Both ends of a connection, after the upgrade. */
async function pair(silenceMs?: number) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [far] = (await once(server, 'connection')) as [Socket]
  far.on('error', () => {})
  const texts: string[] = []
  let told: (reason: string) => void = () => {}
  const closed = new Promise<string>((resolve) => {
    told = resolve
  })
  const transport = new SocketTransport(client, { received: (text) => texts.push(text), closed: told }, silenceMs)
  return {
    transport,
    far,
    texts,
    closed,
    async [Symbol.asyncDispose]() {
      client.destroy()
      far.destroy()
      server.close()
    },
  }
}

describe('a WebSocket', () => {
  test('that is cut without a word is noticed', async () => {
    await using wire = await pair(60)
    // It takes everything and never says anything, as a network does that has vanished.
    wire.far.resume()
    assert.match(await wire.closed, /nothing was heard/)
  })

  test('that is silent but alive stays', async () => {
    await using wire = await pair(60)
    let pings = 0
    wire.far.on('data', () => {
      pings++
      wire.far.write(Buffer.from([0x8a, 0]))
    })
    while (pings < 4) await new Promise((resolve) => setTimeout(resolve, 20))
    wire.far.end(Buffer.from([0x81, 2, 0x68, 0x69]))
    assert.equal(await wire.closed, 'the other side hung up')
    assert.deepEqual(wire.texts, ['hi'])
  })

  test('answers pings, and says why the other side has left', async () => {
    await using wire = await pair()
    wire.far.write(Buffer.from([0x89, 1, 0x70]))
    const [pong] = (await once(wire.far, 'data')) as [Buffer]
    assert.equal(pong.length, clientFrame(10, 'p').length)
    assert.equal(pong[0], 0x8a)
    wire.far.write(Buffer.from([0x88, 5, 0x03, 0xe9, 0x62, 0x79, 0x65]))
    assert.equal(await wire.closed, 'bye (code 1001)')
    await wire.transport.close()
  })

  test('ends with what is no frame, and with what is no text', async () => {
    for (const bytes of [Buffer.from('HTTP/1.1 400'), Buffer.from([0x81, 1, 0xff])]) {
      await using wire = await pair()
      wire.far.write(bytes)
      assert.match(await wire.closed, /reserved bits|does not mask|not UTF-8|fragment|opcode/)
      await wire.transport.close()
    }
  })

  test('that is not answered when it says goodbye is dropped', async () => {
    await using wire = await pair()
    wire.far.resume()
    await wire.transport.close()
    assert.equal(await wire.closed, 'closed')
  })
})
