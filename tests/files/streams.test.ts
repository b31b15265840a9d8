import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { eventually, RawClient, startServer } from '@waldo/testkit'
import { base64, leftovers, MiB, openPlace, uri } from './place.ts'

const { at, client, root, server, close } = await openPlace()
after(close)

/** Empty for a descriptor that has just been closed. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}

describe('streams', () => {
  test('replace a file when they are closed, whatever order the blocks come in', async () => {
    writeFileSync(at('streamed'), 'old content')
    await client.call('fs/open', { handleId: 'w', path: uri(at('streamed')), mode: 'replace' })
    const block = (offset: number, text: string) =>
      client.call('fs/writeBlock', { handleId: 'w', offset, chunk: base64(text) })
    await Promise.all([block(8, 'third'), block(0, 'one'), block(3, 'two')])
    assert.equal(readFileSync(at('streamed'), 'utf8'), 'old content')
    // Not waited for: closing comes after what was asked before.
    const last = block(13, 'x'.repeat(500_000))
    await client.call('fs/close', { handleId: 'w' })
    await last
    assert.equal(readFileSync(at('streamed'), 'latin1').slice(0, 14), 'onetwo\0\0thirdx')
    assert.deepEqual(leftovers(root), [])
  })

  test('a cut connection, or a killed server, leaves the old content', async () => {
    writeFileSync(at('kept'), 'old')
    await using own = await startServer()
    for (const how of ['cut', 'kill']) {
      const other = await RawClient.connect(own.url)
      await other.call('fs/open', { handleId: 'w', path: uri(at('kept')), mode: 'replace' })
      await other.call('fs/writeBlock', { handleId: 'w', offset: 0, chunk: base64('new') })
      if (how === 'cut') await other[Symbol.asyncDispose]()
      else own.kill('SIGKILL')
      await other.untilDisconnected()
    }
    assert.equal(readFileSync(at('kept'), 'utf8'), 'old')
    assert.deepEqual(leftovers(root), [])
  })

  test('descriptors do not outlive their connection', async () => {
    writeFileSync(at('opened'), 'x')
    const directory = `/proc/${server.pid}/fd`
    // Of files that were opened here: what else the server opens at the same time is its own business.
    const descriptors = () =>
      readdirSync(directory).filter((fd) => targetOf(`${directory}/${fd}`).startsWith(root)).length
    const other = await RawClient.connect(server.url)
    for (let i = 0; i < 128; i++) {
      const mode = i % 2 ? 'read' : 'replace'
      await other.call('fs/open', { handleId: `h${i}`, path: uri(at('opened')), mode })
    }
    assert.equal(descriptors(), 128)
    const { code, message } = await other.failure('fs/open', { handleId: 'one more', path: uri(at('opened')) })
    assert.deepEqual([code, /at most 128/.test(message)], [-32600, true])
    await other[Symbol.asyncDispose]()
    await eventually(() => descriptors() === 0, 'the descriptors to be closed')
  })

  test('large files travel in blocks', async () => {
    const content = Buffer.alloc(9 * MiB + 5)
    for (let i = 0; i < content.length; i += 4)
      content.writeUInt32LE((i * 2654435761) >>> 0, Math.min(i, content.length - 4))
    writeFileSync(at('blocks'), content)
    await client.call('fs/open', { handleId: 'r', path: uri(at('blocks')) })
    const parts: Buffer[] = []
    for (let eof = false, offset = 0; !eof; ) {
      const block = await client.call('fs/readBlock', { handleId: 'r', offset, len: MiB })
      parts.push(Buffer.from(block.chunk, 'base64'))
      offset += parts.at(-1)!.length
      eof = block.eof
    }
    await client.call('fs/close', { handleId: 'r' })
    assert.ok(Buffer.concat(parts).equals(content))
  })
})
