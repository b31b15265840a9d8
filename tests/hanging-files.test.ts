import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { childrenOf, eventually, RawClient, startServer, type TestServer } from '@waldo/testkit'

const uri = (path: string) => pathToFileURL(path).href
const isHelper = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('file-helper')
const helpersOf = (pid: number) => childrenOf(pid).filter(isHelper)
let server: TestServer
let root: string
before(async () => {
  root = mkdtempSync(join(tmpdir(), 'waldo-hanging-'))
  server = await startServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

/** What everybody else wants to do meanwhile. */
async function everythingWorks(client: RawClient): Promise<void> {
  writeFileSync(join(root, 'file'), 'x')
  const path = uri(join(root, 'file'))
  await client.call('environment/status')
  await client.call('fs/getMetadata', { path })
  await client.call('fs/readFile', { path })
  await client.call('fs/writeFile', { path, dataBase64: Buffer.alloc(500_000).toString('base64') })
  assert.equal((await client.call('fs/readFile', { path })).dataBase64.length, 666_668)
  assert.equal((await client.run('echo alive')).stdout, 'alive\n')
}

describe('a file system that has stopped answering', () => {
  test('keeps only those waiting who asked for its files', async (t) => {
    if (process.getuid?.() !== 0 || !existsSync('/dev/fuse')) return t.skip('needs root and /dev/fuse')
    const mount = join(root, 'dead')
    mkdirSync(mount)
    symlinkSync('dead/below', join(root, 'link'))
    const fuse = Bun.spawn([process.execPath, join(import.meta.dir, 'fixtures/dead-mount.ts'), mount], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      await fuse.stdout.getReader().read()
      // What is known of the mounts may be a moment old.
      await Bun.sleep(1100)
      await using client = await RawClient.connect(server.url)
      const outcomes: string[] = []
      const path = uri(join(mount, 'file'))
      const calls: [string, object][] = [
        ['fs/readFile', { path }],
        ['fs/getMetadata', { path: uri(mount) }],
        ['fs/readDirectory', { path: uri(mount) }],
        ['fs/writeFile', { path: uri(join(root, 'link')), dataBase64: '' }],
        ['fs/open', { path, handleId: 'h' }],
        ['fs/readBlock', { handleId: 'h', offset: 0, len: 1 }],
        ['fs/copy', { sourcePath: path, destinationPath: uri(join(root, 'copy')), recursive: false }],
      ]
      const settled = calls.map(([method, params]) =>
        client.failure(method, params).then(({ code }) => outcomes.push(`${method} ${code}`)),
      )
      await Bun.sleep(300)
      await everythingWorks(client)
      await using other = await RawClient.connect(server.url)
      await everythingWorks(other)
      assert.deepEqual(outcomes, [])
      fuse.kill('SIGKILL')
      await Promise.all(settled)
      assert.equal(outcomes.length, calls.length)
      assert.equal(helpersOf(server.pid).length, 1)
    } finally {
      fuse.kill('SIGKILL')
      Bun.spawnSync(['umount', '-l', mount])
    }
    await eventually(() => helpersOf(server.pid).length === 0, 'the helper to end with its connection')
  })
})

describe('a search that runs away', () => {
  test('ends with the connection that asked for it', async () => {
    // Without ripgrep, whose expressions cannot run away.
    await using own = await startServer({ env: { PATH: '/nonexistent' } })
    mkdirSync(join(root, 'text'))
    writeFileSync(join(root, 'text/a'), `${'a'.repeat(60)}!\n`)
    const client = await RawClient.connect(own.url)
    const search = { path: uri(join(root, 'text')), pattern: '(a|aa)+$' }
    const running = client.call('fs/grep', search).catch(() => 'cut')
    await eventually(() => helpersOf(own.pid).length > 0, 'the search to start')
    await Bun.sleep(200)
    await client.call('environment/status')
    await client[Symbol.asyncDispose]()
    assert.equal(await running, 'cut')
    await eventually(() => helpersOf(own.pid).length === 0, 'the search to end')
    await using next = await RawClient.connect(own.url)
    assert.equal((await next.call('fs/grep', { ...search, pattern: 'a!' })).files.length, 1)
    // …and with the server, even if that is killed.
    void next.call('fs/grep', search).catch(() => {})
    await Bun.sleep(200)
    const [helper] = helpersOf(own.pid)
    own.kill('SIGKILL')
    await eventually(() => !existsSync(`/proc/${helper}`), 'the search to end')
  })
})
