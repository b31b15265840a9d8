import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { eventually, memoryOf, RawClient, startServer, type TestServer } from '@waldo/testkit'

const MiB = 1024 * 1024
let server: TestServer
let client: RawClient
let root: string
before(async () => {
  root = mkdtempSync(join(tmpdir(), 'waldo-files-'))
  server = await startServer()
  client = await RawClient.connect(server.url)
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

const uri = (path: string) => pathToFileURL(path).href
const base64 = (content: string | Uint8Array) => Buffer.from(content as string).toString('base64')
const at = (name: string) => join(root, name)
const write = (path: string, content: string | Uint8Array, more = {}) =>
  client.call('fs/writeFile', { path: uri(path), dataBase64: base64(content), ...more })
const read = async (path: string) =>
  Buffer.from((await client.call('fs/readFile', { path: uri(path) })).dataBase64, 'base64')
const leftovers = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('.waldo-'))
const sh = (script: string) => {
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', script])
  assert.equal(exitCode, 0, `${script}: ${stderr}`)
}

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

describe('writing', () => {
  test('creates files as the umask wants, and keeps mode and owner of those that are there', async () => {
    await write(at('new'), 'one')
    assert.equal(statSync(at('new')).mode & 0o777, 0o666 & ~process.umask())
    chmodSync(at('new'), 0o751)
    if (process.getuid?.() === 0) chownSync(at('new'), 1234, 4321)
    const { uid, gid, ino } = statSync(at('new'))
    await write(at('new'), 'two')
    const now = statSync(at('new'))
    assert.deepEqual([now.mode & 0o7777, now.uid, now.gid], [0o751, uid, gid])
    assert.notEqual(now.ino, ino)
    assert.equal(readFileSync(at('new'), 'utf8'), 'two')
  })

  test('follows a link to where it leads, also to nothing yet', async () => {
    mkdirSync(at('elsewhere'))
    symlinkSync('elsewhere/target', at('link'))
    for (const content of ['first', 'second']) {
      await write(at('link'), content)
      assert.equal(readFileSync(at('elsewhere/target'), 'utf8'), content)
      assert.equal(readlinkSync(at('link')), 'elsewhere/target')
    }
    symlinkSync('circle', at('circle'))
    assert.equal((await client.failure('fs/writeFile', { path: uri(at('circle')), dataBase64: '' })).code, -32603)
  })

  test('goes in place where more than a name hangs on the file', async () => {
    writeFileSync(at('hard'), 'x')
    linkSync(at('hard'), at('hard2'))
    await write(at('hard'), 'both')
    assert.equal(readFileSync(at('hard2'), 'utf8'), 'both')
    await write('/dev/null', 'nothing')
    assert.ok(lstatSync('/dev/null').isCharacterDevice())
    assert.equal((await client.failure('fs/writeFile', { path: uri(root), dataBase64: '' })).code, -32603)
  })

  test('goes in place where no second file can be: a mounted file, a directory that cannot be changed', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('needs root')
    writeFileSync(at('below'), 'old')
    writeFileSync(at('mounted'), '')
    for (const content of ['through the mount', 'a'.repeat(3_000_000)]) {
      sh(`mount --bind ${at('below')} ${at('mounted')}`)
      try {
        await write(at('mounted'), content)
      } finally {
        sh(`umount ${at('mounted')}`)
      }
      assert.equal(readFileSync(at('below'), 'utf8'), content)
    }
    mkdirSync(at('frozen'))
    writeFileSync(at('frozen/file'), 'old')
    sh(`mount --bind ${at('frozen')} ${at('frozen')} && mount -o remount,ro,bind ${at('frozen')}`)
    try {
      assert.equal(
        (await client.failure('fs/writeFile', { path: uri(at('frozen/file')), dataBase64: '' })).code,
        -32603,
      )
    } finally {
      sh(`umount ${at('frozen')}`)
    }
    assert.equal(readFileSync(at('frozen/file'), 'utf8'), 'old')
    assert.deepEqual(leftovers(root), [])
  })

  test('a link that is put into the way at the wrong moment leads nowhere', async () => {
    mkdirSync(at('swap/real'), { recursive: true })
    mkdirSync(at('outside'))
    writeFileSync(at('outside/file'), 'untouched')
    // The directory is a link to the outside half of the time.
    const swapper = Bun.spawn(
      ['sh', '-c', 'while :; do mv real aside; ln -s ../outside real; rm real; mv aside real; done'],
      {
        cwd: at('swap'),
        stdio: ['ignore', 'ignore', 'ignore'],
      },
    )
    try {
      const path = uri(at('swap/real/file'))
      const params = { path, dataBase64: base64('new'), followSymlinks: false }
      const calls = ['fs/writeFile', 'fs/append', 'fs/readFile', 'fs/getMetadata']
      for (let i = 0; i < 400; i++) {
        const answer = await client.call(calls[i % calls.length]!, params).catch((error) => error)
        if (answer.dataBase64 !== undefined) assert.notEqual(answer.dataBase64, base64('untouched'))
      }
      await client.call('fs/remove', { path, followSymlinks: false, recursive: false }).catch(() => {})
    } finally {
      swapper.kill('SIGKILL')
      await swapper.exited
    }
    assert.equal(readFileSync(at('outside/file'), 'utf8'), 'untouched')
    assert.deepEqual(readdirSync(at('outside')), ['file'])
  })

  test('readers see the old content or the new, never half of it', async () => {
    const contents = ['a', 'b', 'c'].map((letter) => Buffer.alloc(300_000, letter))
    await write(at('contended'), contents[0]!)
    const writers = Array.from({ length: 30 }, (_, i) => write(at('contended'), contents[i % 3]!))
    const reads = await Promise.all(Array.from({ length: 30 }, () => read(at('contended'))))
    await Promise.all(writers)
    for (const content of reads) assert.ok(contents.some((one) => one.equals(content)))
    assert.deepEqual(leftovers(root), [])
  })

  test('a full disk leaves the old content and nothing else', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('needs root')
    const disk = at('disk')
    mkdirSync(disk)
    sh(`mount -t tmpfs -o size=1m tmpfs ${disk}`)
    try {
      await write(join(disk, 'file'), 'precious')
      for (const size of [100_000, 3 * MiB]) {
        writeFileSync(join(disk, 'filler'), Buffer.alloc(MiB - 64 * 1024))
        const dataBase64 = base64(Buffer.alloc(size))
        const { code, message } = await client.failure('fs/writeFile', { path: uri(join(disk, 'file')), dataBase64 })
        assert.deepEqual([code, /No space left/.test(message)], [-32603, true])
      }
      assert.equal(readFileSync(join(disk, 'file'), 'utf8'), 'precious')
      assert.deepEqual(readdirSync(disk).sort(), ['file', 'filler'])
    } finally {
      sh(`umount ${disk}`)
    }
  })

  test('files that only root could write to are refused to others', async (t) => {
    if (process.getuid?.() !== 0) return t.skip('needs root, to be somebody else')
    const open = at('open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    chmodSync(root, 0o755)
    writeFileSync(join(open, 'protected'), 'old')
    // The directory would allow to replace it; the file does not allow to write to it.
    // Sources and tools may be where nobody else can read them.
    copyFileSync(join(import.meta.dir, '../dist/waldo'), join(open, 'waldo'))
    await using other = await startServer({
      user: 65534,
      stateDir: join(open, 'state'),
      executable: join(open, 'waldo'),
    })
    await using nobody = await RawClient.connect(other.url)
    const target = { path: uri(join(open, 'protected')), dataBase64: base64('new') }
    assert.equal((await nobody.failure('fs/writeFile', target)).code, -32600)
    assert.equal((await nobody.failure('fs/open', { ...target, handleId: 'w', mode: 'replace' })).code, -32600)
    assert.equal(readFileSync(join(open, 'protected'), 'utf8'), 'old')
    // …and the other way round.
    mkdirSync(join(open, 'closed'))
    writeFileSync(join(open, 'closed/shared'), 'old')
    chmodSync(join(open, 'closed/shared'), 0o666)
    await nobody.call('fs/writeFile', { path: uri(join(open, 'closed/shared')), dataBase64: base64('new') })
    assert.equal(readFileSync(join(open, 'closed/shared'), 'utf8'), 'new')
  })
})

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
    const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length
    const other = await RawClient.connect(server.url)
    await other.call('fs/getMetadata', { path: uri(root) })
    const start = descriptors()
    for (let i = 0; i < 128; i++) {
      const mode = i % 2 ? 'read' : 'replace'
      await other.call('fs/open', { handleId: `h${i}`, path: uri(at('opened')), mode })
    }
    assert.equal(descriptors(), start + 128)
    const { code, message } = await other.failure('fs/open', { handleId: 'one more', path: uri(at('opened')) })
    assert.deepEqual([code, /at most 128/.test(message)], [-32600, true])
    await other[Symbol.asyncDispose]()
    await eventually(() => descriptors() < start, 'the descriptors to be closed')
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

describe('directories', () => {
  test('names that are not UTF-8 survive from walk to read to remove', async () => {
    const directory = at('odd')
    mkdirSync(directory)
    const raw = Buffer.concat([Buffer.from(`${directory}/b`), Buffer.from([0xff, 0xfe]), Buffer.from('d')])
    writeFileSync(raw, 'odd')
    writeFileSync(join(directory, 'ü #%?\n'), 'text')
    const options = { maxDepth: 4, maxDirectories: 10, maxEntries: 100, followDirectorySymlinks: false }
    const { entries } = await client.call('fs/walk', { path: uri(directory), options })
    assert.equal(entries.length, 2)
    const contents: string[] = []
    for (const { path } of entries) {
      contents.push(Buffer.from((await client.call('fs/readFile', { path })).dataBase64, 'base64').toString())
    }
    assert.deepEqual(contents, ['odd', 'text'])
    const listed = await client.call('fs/readDirectory', { path: uri(directory) })
    const odd = listed.entries.find((entry: { path?: string }) => entry.path)
    assert.equal(odd.path, entries[0].path)
    for (const { path } of entries) await client.call('fs/remove', { path })
    assert.deepEqual(readdirSync(directory), [])
  })

  test('a copy belongs to whom the original belongs to, as far as we may say so', {
    skip: process.getuid?.() !== 0,
  }, async () => {
    writeFileSync(at('theirs'), 'x')
    chownSync(at('theirs'), 1234, 1235)
    await client.call('fs/copy', {
      sourcePath: uri(at('theirs')),
      destinationPath: uri(at('copied')),
      recursive: false,
    })
    const { uid, gid } = statSync(at('copied'))
    assert.deepEqual([uid, gid], [1234, 1235])
  })

  test('a tree that vanishes under a walk, a copy or a removal is no failure of the others', async () => {
    const options = { maxDepth: 10, maxDirectories: 10_000, maxEntries: 50_000, followDirectorySymlinks: true }
    for (let round = 0; round < 5; round++) {
      const tree = at(`tree${round}`)
      sh(`for d in $(seq 60); do mkdir -p ${tree}/$d/x; touch ${tree}/$d/x/a ${tree}/$d/b; done; ln -s .. ${tree}/1/up`)
      const removal = Bun.spawn(['rm', '-rf', tree])
      await Promise.allSettled([
        client.call('fs/walk', { path: uri(tree), options }),
        client.call('fs/copy', { sourcePath: uri(tree), destinationPath: uri(at(`copy${round}`)), recursive: true }),
        client.call('fs/remove', { path: uri(tree) }),
      ])
      await removal.exited
      await client.call('fs/remove', { path: uri(tree) })
      assert.ok(!existsSync(tree))
      assert.deepEqual(await client.call('environment/status'), { status: 'ready' })
    }
  })

  test('names too long, paths too long, paths without end', async () => {
    const long = uri(at('n'.repeat(300)))
    assert.equal((await client.failure('fs/writeFile', { path: long, dataBase64: '' })).code, -32603)
    const deep = uri(at('d/'.repeat(3000)))
    assert.equal((await client.failure('fs/createDirectory', { path: deep })).code, -32603)
    assert.equal((await client.failure('fs/readFile', { path: long })).code, -32603)
  })

  test('a file that is copied onto itself stays as it is', async () => {
    writeFileSync(at('own'), 'content')
    linkSync(at('own'), at('own-link'))
    for (const [source, target] of [
      ['own', 'own-link'],
      ['own', 'own'],
    ]) {
      const paths = { sourcePath: uri(at(source!)), destinationPath: uri(at(target!)), recursive: false }
      await client.call('fs/copy', paths)
      assert.equal(readFileSync(at('own'), 'utf8'), 'content')
    }
    await client.call('fs/copy', { sourcePath: uri(at('own')), destinationPath: 'file:///dev/null', recursive: false })
  })

  test('copies keep modes, links and holes', async () => {
    mkdirSync(at('from/sub'), { recursive: true })
    chmodSync(at('from/sub'), 0o1755)
    writeFileSync(at('from/tool'), '#!/bin/sh', { mode: 0o755 })
    symlinkSync('tool', at('from/sub/link'))
    writeFileSync(at('from/sparse'), '')
    truncateSync(at('from/sparse'), 64 * MiB)
    appendFileSync(at('from/sparse'), 'end')
    await client.call('fs/copy', { sourcePath: uri(at('from')), destinationPath: uri(at('to')), recursive: true })
    assert.equal(statSync(at('to/tool')).mode & 0o777, 0o755)
    assert.equal(statSync(at('to/sub')).mode & 0o7777, 0o1755)
    assert.equal(readlinkSync(at('to/sub/link')), 'tool')
    assert.equal(statSync(at('to/sparse')).size, 64 * MiB + 3)
    assert.ok(statSync(at('to/sparse')).blocks * 512 < MiB)
    // Again: files are replaced, a link is in the way.
    const again = { sourcePath: uri(at('from')), destinationPath: uri(at('to')), recursive: true }
    assert.equal((await client.failure('fs/copy', again)).code, -32603)
  })

  test('more entries than an answer may list are an error, not a cut list', async () => {
    const crowd = at('crowd')
    mkdirSync(crowd)
    sh(`cd ${crowd} && seq 50001 | xargs touch`)
    const { code, message } = await client.failure('fs/readDirectory', { path: uri(crowd) })
    assert.deepEqual([code, /50001 entries; limit is 50000/.test(message)], [-32603, true])
    const options = { maxDepth: 1, maxDirectories: 10, maxEntries: 50_000, followDirectorySymlinks: false }
    assert.equal((await client.call('fs/walk', { path: uri(crowd), options })).truncated, true)
    await client.call('fs/remove', { path: uri(crowd) })
    assert.ok(!existsSync(crowd))
  })
})

describe('extensions', () => {
  test('rename moves, and does not overwrite where it is told not to', async () => {
    writeFileSync(at('r1'), '1')
    writeFileSync(at('r2'), '2')
    const paths = { sourcePath: uri(at('r1')), destinationPath: uri(at('r2')) }
    assert.equal((await client.failure('fs/rename', { ...paths, overwrite: false })).code, -32603)
    await client.call('fs/rename', paths)
    assert.deepEqual([existsSync(at('r1')), readFileSync(at('r2'), 'utf8')], [false, '1'])
    assert.equal((await client.failure('fs/rename', paths)).code, -32004)
  })

  test('append adds to the end, and setMode sets the mode', async () => {
    const append = (text: string) => client.call('fs/append', { path: uri(at('log')), dataBase64: base64(text) })
    await append('a')
    await Promise.all(Array.from({ length: 50 }, () => append('line\n')))
    assert.equal(readFileSync(at('log'), 'utf8'), `a${'line\n'.repeat(50)}`)
    await client.call('fs/setMode', { path: uri(at('log')), mode: 0o640 })
    assert.equal(statSync(at('log')).mode & 0o7777, 0o640)
    symlinkSync('log', at('log-link'))
    const nofollow = { path: uri(at('log-link')), mode: 0o777, followSymlinks: false }
    assert.equal((await client.failure('fs/setMode', nofollow)).code, -32600)
    assert.equal(statSync(at('log')).mode & 0o7777, 0o640)
  })

  test('a profile without entries shows nothing, and one without a sandbox everything', async () => {
    const sandbox = {
      permissions: { type: 'managed', file_system: { type: 'restricted', entries: [] }, network: 'restricted' },
      windowsSandboxLevel: 'disabled',
    }
    for (const method of ['fs/readFile', 'fs/walk', 'fs/glob', 'fs/watch', 'fs/open']) {
      const options = { maxDepth: 1, maxDirectories: 1, maxEntries: 1, followDirectorySymlinks: false }
      const params = { path: uri(root), patterns: ['*'], sandbox, options, handleId: 'h', watchId: 'w' }
      assert.equal((await client.failure(method, params)).code, -32004, method)
    }
    const disabled = { permissions: { type: 'disabled' }, windowsSandboxLevel: 'disabled' }
    await client.call('fs/getMetadata', { path: uri(root), sandbox: disabled })
  })
})
