import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { eventually, RawClient, startServer, type TestServer } from '@waldo/testkit'

interface Changed {
  watchId: string
  cursor: number
  changes: { path: string; kind: string }[]
  overflow: boolean
}

const uri = (path: string) => pathToFileURL(path).href
let server: TestServer
let root: string
before(async () => {
  root = mkdtempSync(join(tmpdir(), 'waldo-watching-'))
  server = await startServer()
})
after(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(root, { recursive: true, force: true })
})

const told = (client: RawClient): Changed[] =>
  client.notifications.filter(({ method }) => method === 'fs/changed').map(({ params }) => params)
const hasTold = (client: RawClient, path: string, kind: string) =>
  told(client).some(({ changes }) => changes.some((change) => change.path === uri(path) && change.kind === kind))

describe('fs/watch', () => {
  test('tells what happens below a directory, and stops when it is told to', async () => {
    const tree = join(root, 'tree')
    mkdirSync(tree)
    await using client = await RawClient.connect(server.url)
    await client.call('fs/watch', { watchId: 'w', path: uri(tree) })
    writeFileSync(join(tree, 'a'), '1')
    mkdirSync(join(tree, 'deep/er'), { recursive: true })
    writeFileSync(join(tree, 'deep/er/b'), '1')
    await client.until(() => hasTold(client, join(tree, 'deep/er/b'), 'created'), 'what is deep down')
    assert.ok(hasTold(client, join(tree, 'a'), 'created'))
    appendFileSync(join(tree, 'a'), '2')
    await client.until(() => hasTold(client, join(tree, 'a'), 'modified'), 'the modification')
    rmSync(join(tree, 'deep'), { recursive: true })
    await client.until(() => hasTold(client, join(tree, 'deep'), 'removed'), 'the removal')
    await client.call('fs/unwatch', { watchId: 'w' })
    const count = told(client).length
    writeFileSync(join(tree, 'c'), '1')
    await Bun.sleep(300)
    assert.equal(told(client).length, count)
  })

  test('goes on while nobody is connected, and continues where the client was', async () => {
    const tree = join(root, 'resumed')
    mkdirSync(tree)
    const first = await RawClient.connect(server.url)
    const { cursor } = await first.call('fs/watch', { watchId: 'w', path: uri(tree) })
    await first[Symbol.asyncDispose]()
    writeFileSync(join(tree, 'missed'), '1')
    renameSync(join(tree, 'missed'), join(tree, 'moved'))
    await Bun.sleep(200)
    await using second = await RawClient.connect(server.url, { resume: first.sessionId })
    assert.equal((await second.call('fs/watch', { watchId: 'w', path: uri(tree), cursor })).cursor, cursor)
    await second.until(() => hasTold(second, join(tree, 'moved'), 'created'), 'what was missed')
    assert.ok(told(second).every(({ overflow }) => !overflow))
  })

  test('says so when it does not know what was missed', async () => {
    const tree = join(root, 'unknown')
    mkdirSync(tree)
    await using client = await RawClient.connect(server.url)
    await client.call('fs/watch', { watchId: 'w', path: uri(tree), cursor: 17 })
    await client.until(() => told(client).length > 0, 'a word about it')
    const [batch] = told(client)
    assert.deepEqual([batch?.overflow, batch?.changes], [true, []])
  })

  test('has a limit, also for those who ask all at once, and leaves nothing behind', async () => {
    const tree = join(root, 'limited')
    await using own = await startServer()
    mkdirSync(tree)
    const watchers = () =>
      readdirSync(`/proc/${own.pid}/fdinfo`)
        .map((fd) => readFileSync(`/proc/${own.pid}/fdinfo/${fd}`, 'latin1'))
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('inotify')).length
    const client = await RawClient.connect(own.url)
    const calls = Array.from({ length: 100 }, (_, i) => client.call('fs/watch', { watchId: `w${i}`, path: uri(tree) }))
    const outcomes = await Promise.allSettled(calls)
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 64)
    void client.call('fs/watch', { watchId: 'w0', path: uri(root) }).catch(() => {})
    await client.call('session/end')
    await eventually(() => watchers() === 0, 'the watches to end with their session')
  })

  test('refuses what is not there', async () => {
    await using client = await RawClient.connect(server.url)
    const missing = { watchId: 'w', path: uri(join(root, 'nothing')) }
    assert.equal((await client.failure('fs/watch', missing)).code, -32004)
  })
})

describe('fs/watchMissing', () => {
  test('tells once that a file has appeared, however deep', async () => {
    await using client = await RawClient.connect(server.url)
    const missing = [uri(join(root, 'm/n/o')), uri(join(root, 'never'))]
    assert.deepEqual(await client.call('fs/watchMissing', { watchId: 7, missing }), { watching: true })
    mkdirSync(join(root, 'm/n'), { recursive: true })
    writeFileSync(join(root, 'm/n/o'), '')
    await client.until(() => client.notifications.length > 0, 'the news')
    writeFileSync(join(root, 'never'), '')
    await Bun.sleep(200)
    assert.deepEqual(client.notifications, [{ method: 'fs/missingChanged', params: { watchId: 7 } }])
  })

  test('tells that a file has gone', async () => {
    await using client = await RawClient.connect(server.url)
    writeFileSync(join(root, 'present'), '')
    const watch = { watchId: 1, missing: [uri(join(root, 'absent'))], present: uri(join(root, 'present')) }
    assert.deepEqual(await client.call('fs/watchMissing', watch), { watching: true })
    rmSync(join(root, 'present'))
    await client.until(() => client.notifications.length > 0, 'the news')
  })

  test('answers no where there is nothing to wait for', async () => {
    await using client = await RawClient.connect(server.url)
    let watchId = 0
    const many = Array.from({ length: 65 }, (_, index) => uri(join(root, `missing${index}`)))
    for (const missing of [[], [uri(root)], ['file:///C:/x'], many]) {
      assert.deepEqual(await client.call('fs/watchMissing', { watchId: ++watchId, missing }), { watching: false })
    }
  })
})
