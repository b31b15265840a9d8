import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { RawClient, startServer } from '@waldo/testkit'
import { base64, leftovers, MiB, openPlace, sh, uri } from './place.ts'

const { at, client, read, root, write, close } = await openPlace()
after(close)

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
    copyFileSync(join(import.meta.dir, '../../dist/waldo'), join(open, 'waldo'))
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
