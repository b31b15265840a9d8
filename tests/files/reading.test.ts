import assert from 'node:assert/strict'
import { appendFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { memoryOf, RawClient, startServer } from '@waldo/testkit'
import { MiB, openPlace, sh, uri } from './place.ts'

const { at, client, read, root, close } = await openPlace()
after(close)

describe('reading', () => {
  test('files of any size that an answer can hold', async () => {
    for (const size of [0, 1, 4096, 200_000, 13_000_000, 40_000_000]) {
      const content = Buffer.alloc(size, `${size} `)
      writeFileSync(at('sized'), content)
      assert.ok((await read(at('sized'))).equals(content), `${size}`)
    }
  })

  test('a file that no answer can hold is refused, and the error names the way', async () => {
    writeFileSync(at('huge'), '')
    truncateSync(at('huge'), 500 * MiB)
    const { code, message } = await client.failure('fs/readFile', { path: uri(at('huge')) })
    assert.equal(code, -32600)
    assert.match(message, /fs\/open and fs\/readBlock/)
    rmSync(at('huge'))
  })

  test('files without a size, as in /proc', async () => {
    assert.match((await read('/proc/self/status')).toString(), /^Name:/)
  })

  test('FIFOs, sockets, devices and directories are no files, and nobody waits for them', async () => {
    sh(`mkfifo ${at('fifo')}`)
    for (const path of [at('fifo'), '/dev/zero', '/dev/tty', root]) {
      const { code } = await client.failure('fs/readFile', { path: uri(path) })
      assert.ok([-32600, -32603].includes(code), path)
    }
    assert.equal((await client.failure('fs/open', { handleId: 'f', path: uri(at('fifo')) })).code, -32600)
  })

  test('a file that grows is read as it was at some moment', async () => {
    writeFileSync(at('growing'), '')
    const piece = 100_000
    const whole = Buffer.alloc(100 * piece, '0123456789abcdefghijklmnopqrstuvwxyz-')
    let size = 0
    const grow = setInterval(() => {
      appendFileSync(at('growing'), whole.subarray(size, size + piece))
      size = Math.min(size + piece, whole.length)
    }, 1)
    try {
      for (let i = 0; i < 20; i++) {
        const before = size
        const content = await read(at('growing'))
        // The kernel shows a write while it is going on: any length will do that was there meanwhile.
        assert.ok(content.length >= before && content.length <= size + piece, `${before} ${content.length} ${size}`)
        assert.ok(content.equals(whole.subarray(0, content.length)), 'what it holds is what was written')
      }
    } finally {
      clearInterval(grow)
    }
  })

  test('a client that asks for much and reads nothing costs little', async () => {
    writeFileSync(at('large'), Buffer.alloc(40 * MiB))
    await using own = await startServer()
    const silent = await RawClient.connect(own.url)
    await silent.call('fs/open', { handleId: 'h', path: uri(at('large')) })
    const start = memoryOf(own.pid)
    silent.pauseReading()
    for (let id = 100; id < 130; id++) {
      silent.send(JSON.stringify({ id, method: 'fs/readFile', params: { path: uri(at('large')) } }))
    }
    for (let id = 1000; id < 3000; id++) {
      const params = { handleId: 'h', offset: 0, len: MiB }
      silent.send(JSON.stringify({ id, method: 'fs/readBlock', params }))
    }
    let most = 0
    for (let i = 0; i < 20; i++) {
      most = Math.max(most, memoryOf(own.pid))
      await Bun.sleep(50)
    }
    // Two of the large ones at most: one on its way, one being read.
    assert.ok(most - start < 400, `${most - start} MiB`)
    await using other = await RawClient.connect(own.url)
    await other.call('fs/getMetadata', { path: uri(root) })
    silent.drop()
  })

  test('metadata of files, directories and links', async () => {
    writeFileSync(at('meta'), 'abc')
    symlinkSync('meta', at('meta-link'))
    const meta = await client.call('fs/getMetadata', { path: uri(at('meta')) })
    const { createdAtMs, modifiedAtMs, ...rest } = meta
    assert.deepEqual(rest, { isDirectory: false, isFile: true, isSymlink: false, size: 3 })
    assert.ok(Number.isInteger(createdAtMs) && Math.abs(modifiedAtMs - Date.now()) < 60_000)
    assert.deepEqual(await client.call('fs/getMetadata', { path: uri(at('meta-link')) }), { ...meta, isSymlink: true })
    const { code, message } = await client.failure('fs/getMetadata', {
      path: uri(at('meta-link')),
      followSymlinks: false,
    })
    assert.deepEqual([code, /symbolic link/.test(message)], [-32600, true])
  })
})
