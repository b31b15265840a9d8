import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { certificate, get, rawServer, readAll, testClient, turn } from './fixtures/servers.ts'

describe('a body that nobody reads', () => {
  for (const tls of [false, true]) {
    test(`makes the server wait, and takes little memory (${tls ? 'TLS' : 'TCP'})`, async () => {
      const total = 200 * 1024 * 1024
      const block = Buffer.alloc(1024 * 1024, 'x')
      let written = 0
      await using server = await rawServer(
        async ({ socket }) => {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
          let gone = false
          socket.once('close', () => {
            gone = true
            socket.emit('drain')
          })
          for (; written < total && !gone; written += block.length) {
            if (!socket.write(block)) await once(socket, 'drain')
          }
        },
        { tls },
      )
      using client = testClient({ ca: certificate })
      const response = await client.request(get(server.url))
      let before = -1
      while (written !== before) {
        before = written
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      // What does not fit here sits in the buffers of the system, of which there are two.
      assert.ok(written < 32 * 1024 * 1024, `the server could write ${written} bytes`)
      let read = 0
      for (let piece = await response.read(); piece; piece = await response.read()) {
        read += piece.length
        assert.ok(piece.length <= 1024 * 1024)
      }
      assert.equal(read, total)
    })
  }

  test('is still complete when the server has closed', async () => {
    const body = 'x'.repeat(3_000_000)
    await using server = await rawServer(({ socket }) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${body}`))
    using client = testClient()
    const response = await client.request(get(server.url))
    for (let i = 0; i < 20; i++) await turn()
    assert.equal((await readAll(response)).length, body.length)
  })

  test('of tiny pieces makes the server wait as well', async () => {
    await using server = await rawServer(({ socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\n'), { tls: true })
    using client = testClient({ ca: certificate })
    const response = await client.request(get(server.url))
    const { socket } = server.requests[0]!
    for (let i = 0; i < 2000; i++) {
      socket.write('x')
      await turn()
    }
    socket.end()
    let pieces = 0
    let bytes = 0
    for (let piece = await response.read(); piece; piece = await response.read()) {
      pieces++
      bytes += piece.length
    }
    assert.equal(bytes, 2000)
    assert.ok(pieces < 1000, `${pieces} pieces`)
  })
})
