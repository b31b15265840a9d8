import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { childrenOf, eventually, processesWith, RawClient, startServer, type TestServer } from '@waldo/testkit'

const uri = (path: string) => pathToFileURL(path).href
const helpersOf = (pid: number) => {
  const helpers = processesWith('file-helper')
  return childrenOf(pid).filter((child) => helpers.includes(child))
}
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
    const mount = join(root, 'above/dé ad')
    mkdirSync(mount, { recursive: true })
    symlinkSync('above/dé ad/below', join(root, 'link'))
    mkdirSync(join(root, 'links'))
    symlinkSync(join(mount, 'file'), join(root, 'links/one'))
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
        ['fs/copy', { sourcePath: uri(join(root, 'above')), destinationPath: uri(join(root, 'c')), recursive: true }],
      ]
      const settled = calls.map(([method, params]) =>
        client.failure(method, params).then(({ code }) => outcomes.push(`${method} ${code}`)),
      )
      await Bun.sleep(300)
      await everythingWorks(client)
      await using other = await RawClient.connect(server.url)
      await everythingWorks(other)
      // What leads there is not looked at; what has it below is walked by somebody who can wait.
      const links = await other.call('fs/readDirectory', { path: uri(join(root, 'links')) })
      assert.deepEqual(links.entries, [{ fileName: 'one', isDirectory: false, isFile: false }])
      const options = { maxDepth: 9, maxDirectories: 99, maxEntries: 99, followDirectorySymlinks: true }
      const walked = await other.call('fs/walk', { path: uri(join(root, 'links')), options })
      assert.match(walked.errors[0].message, /network file system/)
      const watch = { watchId: 'w', path: uri(root) }
      assert.equal((await other.failure('fs/watch', watch)).code, -32600)
      void other.call('fs/walk', { path: uri(join(root, 'above')), options }).catch(() => {})
      await everythingWorks(other)
      assert.deepEqual(outcomes, [])
      fuse.kill('SIGKILL')
      await Promise.all(settled)
      assert.equal(outcomes.length, calls.length)
      assert.equal(helpersOf(server.pid).length, 2)
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
    // A client that leaves while the search is still being handed over harms nobody.
    const careless = await RawClient.connect(own.url)
    careless.send(JSON.stringify({ id: 9, method: 'fs/grep', params: { ...search, more: 'x'.repeat(20_000_000) } }))
    await Bun.sleep(50)
    careless.drop()
    await using next = await RawClient.connect(own.url)
    assert.equal((await next.call('fs/grep', { ...search, pattern: 'a!' })).files.length, 1)
    // …and with the server, even if that is killed.
    void next.call('fs/grep', search).catch(() => {})
    await Bun.sleep(200)
    const [helper] = helpersOf(own.pid)
    own.kill('SIGKILL')
    // Whoever takes care of orphans may leave a zombie for a while.
    await eventually(() => !processesWith('file-helper').includes(helper!), 'the search to end')
  })
})
