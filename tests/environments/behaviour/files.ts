import assert from 'node:assert/strict'
import { randomFillSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { WatchBatch } from '@waldo/environment'
import { bytesOf, fails, givesUp } from '../collect.ts'
import { scratch } from '../scratch.ts'
import { type Setting, unrepeated } from './setting.ts'

const uri = (path: string) => pathToFileURL(path).href

export function fileBehaviour(setting: Setting): void {
  const { open } = setting
  /** Whatever changes something is never sent twice. */
  const change = <T>(act: () => Promise<T>) => unrepeated(setting, act)

  test('files are written, read, appended to and described', async () => {
    await using env = open()
    using dir = scratch()
    const path = dir.at('ä b.txt')
    await change(() => env.files.writeFile(path, 'hello\n'))
    assert.equal(await env.files.readText(path), 'hello\n')
    assert.equal(await env.files.readText(pathToFileURL(path)), 'hello\n')
    await change(async () => {
      writeFileSync(path, 'hello\n')
      await env.files.append(path, 'world\n')
    })
    assert.equal(readFileSync(path, 'utf8'), 'hello\nworld\n')
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    await change(() => env.files.writeFile(path, bytes))
    assert.deepEqual(Buffer.from(await env.files.readFile(path)), Buffer.from(bytes))
    const { size, isFile, isDirectory, modifiedAtMs } = await env.files.metadata(path)
    assert.deepEqual({ size, isFile, isDirectory }, { size: 256, isFile: true, isDirectory: false })
    assert.equal(modifiedAtMs, Math.floor(statSync(path).mtimeMs))
    await change(() => env.files.setMode(path, 0o640))
    assert.equal(statSync(path).mode & 0o777, 0o640)
    assert.equal(await env.files.exists(path), true)
    assert.equal(await env.files.exists(dir.at('none')), false)
  })

  test('directories are made, listed, walked, copied, renamed and removed', async () => {
    await using env = open()
    using dir = scratch()
    await change(() => env.files.createDirectory(dir.at('a/b')))
    writeFileSync(dir.at('a/one'), '1')
    writeFileSync(dir.at('a/b/two'), '2')
    const entries = await env.files.readDirectory(dir.at('a'))
    assert.deepEqual(
      entries.sort((x, y) => (x.name < y.name ? -1 : 1)),
      [
        { name: 'b', path: uri(dir.at('a/b')), isDirectory: true, isFile: false },
        { name: 'one', path: uri(dir.at('a/one')), isDirectory: false, isFile: true },
      ],
    )
    const walked = await env.files.walk(dir.at('a'))
    assert.deepEqual(
      walked.entries.map(({ path }) => path),
      [dir.at('a/b'), dir.at('a/one'), dir.at('a/b/two')].map(uri),
    )
    assert.equal((await env.files.walk(dir.at('a'), { maxDepth: 0 })).entries.length, 2)
    await change(() => env.files.copy(dir.at('a'), dir.at('copy')))
    assert.equal(readFileSync(dir.at('copy/b/two'), 'utf8'), '2')
    await change(async () => {
      if (!existsSync(dir.at('moved'))) await env.files.rename(dir.at('copy'), dir.at('moved'))
    })
    assert.ok(existsSync(dir.at('moved/one')) && !existsSync(dir.at('copy')))
    await change(() => env.files.remove(dir.at('moved')))
    assert.ok(!existsSync(dir.at('moved')))
    await change(() => env.files.remove(dir.at('moved')))
    symlinkSync(dir.at('a'), dir.at('link'))
    assert.equal(await env.files.canonicalize(dir.at('link/one')), uri(dir.at('a/one')))
  })

  test('what is not there is FILE_NOT_FOUND, what makes no sense FILE_INVALID, what the system refuses FILE_FAILED', async () => {
    await using env = open()
    using dir = scratch()
    mkdirSync(dir.at('full/inside'), { recursive: true })
    writeFileSync(dir.at('file'), '')
    symlinkSync(dir.at('file'), dir.at('link'))
    const { files } = env
    await fails(files.readFile(dir.at('none')), 'FILE_NOT_FOUND')
    await fails(files.metadata(dir.at('none')), 'FILE_NOT_FOUND')
    await fails(files.readDirectory(dir.at('none')), 'FILE_NOT_FOUND')
    await fails(bytesOf(files.readStream(dir.at('none'))), 'FILE_NOT_FOUND')
    await fails(
      change(() => files.writeFile(dir.at('none/x'), '')),
      'FILE_NOT_FOUND',
    )
    await fails(
      change(() => files.remove(dir.at('none'), { force: false })),
      'FILE_NOT_FOUND',
    )
    await fails(files.readFile(dir.path), 'FILE_INVALID')
    await fails(files.readFile(dir.at('link'), { followSymlinks: false }), 'FILE_INVALID')
    await fails(files.readFile('relative'), 'FILE_INVALID')
    await fails(files.readFile('file:///a?b'), 'FILE_INVALID')
    await fails(
      change(() => files.remove(dir.at('full'), { recursive: false })),
      'FILE_FAILED',
    )
    await fails(
      change(() => files.createDirectory(dir.at('file'), { recursive: false })),
      'FILE_FAILED',
    )
    const taken = change(() => files.rename(dir.at('file'), dir.at('full'), { overwrite: false }))
    await fails(taken, 'FILE_FAILED', 'FILE_INVALID')
  })

  test('a file of 20 MB goes through a stream both ways', async () => {
    await using env = open()
    using dir = scratch()
    const data = randomFillSync(Buffer.allocUnsafe(20_000_000))
    writeFileSync(dir.at('in'), data)
    assert.ok((await bytesOf(env.files.readStream(dir.at('in')))).equals(data))
    // A stream that writes ends with its connection. Under cuts a smaller one gets through now and then.
    const size = setting.cuts ? 2_000_000 : data.length
    await change(async () => {
      const writer = env.files.writeStream(dir.at('out')).getWriter()
      for (let at = 0; at < size; at += 700_000) await writer.write(data.subarray(at, Math.min(size, at + 700_000)))
      await writer.close()
    })
    assert.ok(readFileSync(dir.at('out')).equals(data.subarray(0, size)))
  })

  test('a written stream that is aborted leaves the old content, and one that is read can be left', async () => {
    await using env = open()
    using dir = scratch()
    writeFileSync(dir.at('file'), 'old')
    await change(async () => {
      const writer = env.files.writeStream(dir.at('file')).getWriter()
      await writer.write(Buffer.from('new'))
      await writer.abort()
    })
    assert.equal(readFileSync(dir.at('file'), 'utf8'), 'old')
    writeFileSync(dir.at('large'), Buffer.alloc(10_000_000))
    const reader = env.files.readStream(dir.at('large')).getReader()
    assert.ok((await reader.read()).value!.length > 0)
    await reader.cancel()
    assert.equal(await env.files.readText(dir.at('file')), 'old')
  })

  test('names that are not UTF-8 survive', async () => {
    await using env = open()
    using dir = scratch()
    const name = Buffer.concat([Buffer.from(`${dir.path}/`), Buffer.from([0x66, 0xff, 0xfe])])
    writeFileSync(name, 'odd')
    const [entry] = await env.files.readDirectory(dir.path)
    assert.equal(entry?.path, `${uri(dir.path)}/f%FF%FE`)
    assert.equal(await env.files.readText(entry.path), 'odd')
    await change(() => env.files.writeFile(entry.path, 'other'))
    assert.equal(readFileSync(name, 'utf8'), 'other')
    const { matches } = await env.files.glob(dir.path)
    assert.deepEqual(matches, [{ path: entry.path, kind: 'file' }])
  })

  test('files are found by name and by content', async () => {
    await using env = open()
    using dir = scratch()
    mkdirSync(dir.at('src'))
    writeFileSync(dir.at('src/a.ts'), 'first\nneedle here\n')
    writeFileSync(dir.at('src/b.js'), 'NEEDLE\n')
    const found = await env.files.glob(dir.path, { globs: ['*.ts'] })
    assert.deepEqual(found.matches, [{ path: uri(dir.at('src/a.ts')), kind: 'file' }])
    const { files } = await env.files.grep(dir.path, 'ne+dle', { ignoreCase: true, before: 1 })
    const seen = files.map(({ path, matches }) => [path, matches[0]?.line, matches[0]?.text])
    assert.deepEqual(seen, [
      [uri(dir.at('src/a.ts')), 2, 'needle here'],
      [uri(dir.at('src/b.js')), 1, 'NEEDLE'],
    ])
    await fails(env.files.grep(dir.path, '('), 'FILE_INVALID')
  })

  test('a watch tells what happens, and goes on through a cut', async () => {
    await using env = open()
    using dir = scratch()
    const watching = new AbortController()
    const batches = env.files.watch(dir.path, { signal: watching.signal })[Symbol.asyncIterator]()
    const seen = new Set<string>()
    let next: Promise<IteratorResult<WatchBatch>> = batches.next()
    // It has begun when it has told the first thing; what happens before that may not be told.
    for (let index = 0; seen.size < 20; index++) {
      writeFileSync(dir.at(`file-${index % 20}`), String(index))
      const result = await Promise.race([next, new Promise<undefined>((resolve) => setTimeout(resolve, 50))])
      if (!result) continue
      for (const { path } of result.value!.changes) seen.add(path)
      next = batches.next()
    }
    watching.abort(new Error('enough'))
    await assert.rejects(next, /enough/)
    assert.ok(seen.has(uri(dir.at('file-19'))))
  })

  test('what the executor may not touch is FILE_DENIED', async () => {
    await using env = open()
    // Not even root may remove what the kernel shows.
    await fails(
      change(() => env.files.remove('/proc/version', { recursive: false })),
      'FILE_DENIED',
    )
  })

  test('every call about files can be given up', async () => {
    await using env = open()
    using dir = scratch()
    writeFileSync(dir.at('file'), 'x')
    await env.ready()
    const { files } = env
    const [file, other] = [dir.at('file'), dir.at('other')]
    await givesUp((signal) => files.readFile(file, { signal }))
    await givesUp((signal) => files.readText(file, { signal }))
    await givesUp((signal) => files.writeFile(other, 'x', { signal }))
    await givesUp((signal) => files.append(file, '', { signal }))
    await givesUp((signal) => files.metadata(file, { signal }))
    await givesUp((signal) => files.exists(file, { signal }))
    await givesUp((signal) => files.setMode(file, 0o600, { signal }))
    await givesUp((signal) => files.canonicalize(file, { signal }))
    // What was given up is done nevertheless, maybe later: it must not bring back what we remove.
    await givesUp((signal) => files.createDirectory(dir.at('d'), { signal, recursive: false }))
    await givesUp((signal) => files.readDirectory(dir.path, { signal }))
    await givesUp((signal) => files.walk(dir.path, { signal }))
    await givesUp((signal) => files.copy(file, dir.at('c'), { signal }))
    await givesUp((signal) => files.rename(dir.at('c'), dir.at('e'), { signal }))
    await givesUp((signal) => files.remove(dir.at('e'), { signal }))
    await givesUp((signal) => files.glob(dir.path, { signal }))
    await givesUp((signal) => files.grep(dir.path, 'x', { signal }))
    await givesUp((signal) => files.readStream(file, { signal }).getReader().read())
    await givesUp((signal) => files.writeStream(other, { signal }).getWriter().close())
    await givesUp((signal) => files.watch(dir.path, { signal })[Symbol.asyncIterator]().next())
  })
}
