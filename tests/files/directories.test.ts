import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { MiB, openPlace, sh, uri } from './place.ts'

const { at, client, close } = await openPlace()
after(close)

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
    skip: process.getuid?.() !== 0 && 'needs root',
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
