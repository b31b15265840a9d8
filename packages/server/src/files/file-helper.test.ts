import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import { fromPosixPath, limits, ProtocolError } from '@waldo/protocol'
import { eventually } from '@waldo/testkit'
import { EncodedResult } from '../encoded-result.ts'
import { FileHelper, type HelperCall, type HelperOptions } from './file-helper.ts'
import type { FileMethod } from './file-methods.ts'
import { encodeFrame } from './helper-frames.ts'

const MAIN = join(import.meta.dir, '../../../cli/src/main.ts')
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-helper-')))
after(() => rmSync(directory, { recursive: true }))
const at = (name: string) => join(directory, name)
const uri = (name: string) => fromPosixPath(at(name))

const helpers: FileHelper[] = []
const released: number[] = []
const pids: number[] = []
afterEach(async () => {
  for (const helper of helpers.splice(0)) {
    helper.kill()
    await helper.ended
  }
  await eventually(() => released.length === pids.length, 'every helper to be let go of')
})

function start(argv = [process.execPath, MAIN, 'file-helper'], options: Partial<HelperOptions> = {}): FileHelper {
  const guard = (pid: number) => {
    pids.push(pid)
    return { kill: () => killGroup(pid), release: () => void released.push(pid) }
  }
  const helper = new FileHelper({ launch: () => ({ argv }), guard, ...options })
  helpers.push(helper)
  return helper
}

function killGroup(pid: number): void {
  if (!released.includes(pid)) process.kill(-pid, 'SIGKILL')
}

/** A helper that first says something, and then reads on. */
const saying = (bytes: Uint8Array) => {
  writeFileSync(at('said'), bytes)
  return start(['sh', '-c', 'dd bs=1 count=1 2>/dev/null >/dev/null; cat "$0"; cat >/dev/null', at('said')])
}

const within: HelperCall['answers'] = { within: (_, make) => make() }
function call(helper: FileHelper, method: FileMethod, params: object, rest: Partial<HelperCall> = {}) {
  return helper.call({ channel: 1, method, params, answers: within, ...rest })
}

function textOf(result: object): string {
  assert.ok(result instanceof EncodedResult)
  return Buffer.from(result.bytes).toString()
}

const lost = (reason = '') => ({
  name: 'ProtocolError',
  code: -32603,
  message: new RegExp(`has ended.*${reason}`, 's'),
})

describe('a helper', () => {
  test('does what it is asked, many things at a time', async () => {
    const helper = start()
    const names = Array.from({ length: 20 }, (_, i) => `many-${i}`)
    const texts = names.map(async (name) => {
      await call(helper, 'fs/writeFile', { path: uri(name), dataBase64: btoa(`text of ${name}`) })
      return textOf(await call(helper, 'fs/readFile', { path: uri(name) }))
    })
    assert.deepEqual(
      await Promise.all(texts),
      names.map((name) => `text of ${name}`),
    )
    assert.deepEqual([helper.alive, helper.busy], [true, 0])
  })

  test('has every method', async () => {
    const helper = start()
    const options = { maxDepth: 1, maxDirectories: 1, maxEntries: 1, followDirectorySymlinks: false }
    const [from, to] = [{ sourcePath: uri('all/f') }, { destinationPath: uri('all/g') }]
    const calls: Record<FileMethod, object> = {
      'fs/createDirectory': { path: uri('all') },
      'fs/writeFile': { path: uri('all/f'), dataBase64: btoa('text') },
      'fs/append': { path: uri('all/f'), dataBase64: btoa('text') },
      'fs/setMode': { path: uri('all/f'), mode: 0o600 },
      'fs/getMetadata': { path: uri('all/f') },
      'fs/canonicalize': { path: uri('all/f') },
      'fs/readFile': { path: uri('all/f') },
      'fs/readDirectory': { path: uri('all') },
      'fs/walk': { path: uri('all'), options },
      'fs/glob': { path: uri('all') },
      'fs/grep': { path: uri('all'), pattern: 'text' },
      'fs/copy': { ...from, ...to, recursive: false },
      'fs/rename': { ...from, ...to },
      'fs/open': { path: uri('all/g'), handleId: 'all', mode: 'replace' },
      'fs/writeBlock': { handleId: 'all', offset: 0, chunk: btoa('text') },
      'fs/readBlock': { handleId: 'all', offset: 0, len: 4 },
      'fs/close': { handleId: 'all' },
      'fs/remove': { path: uri('all') },
    }
    for (const [method, params] of Object.entries(calls)) {
      const result = call(helper, method as FileMethod, params)
      // It was opened to be written to.
      if (method === 'fs/readBlock') await assert.rejects(result, ProtocolError)
      else assert.ok(await result, method)
    }
  })

  test('answers errors as the server would', async () => {
    const helper = start()
    await assert.rejects(call(helper, 'fs/readFile', { path: uri('no') }), { code: -32004, message: /No such file/ })
    await assert.rejects(call(helper, 'fs/readFile', {}), { code: -32602 })
    await assert.rejects(call(helper, 'fs/watch' as FileMethod, { path: uri('no') }), {
      message: /no method fs\/watch/,
    })
    await assert.rejects(call(helper, 'fs/writeFile', { path: uri('x'), dataBase64: 'ä€' }), { code: -32600 })
  })

  test('waits for room before it makes a large answer', async () => {
    writeFileSync(at('large'), Buffer.alloc(3_000_000, 'x'))
    const asked: number[] = []
    let proceed = () => {}
    const room = new Promise<void>((resolve) => {
      proceed = resolve
    })
    const answers: HelperCall['answers'] = {
      within: (bytes, make) => {
        asked.push(bytes)
        return room.then(make)
      },
    }
    const helper = start()
    const answer = call(helper, 'fs/readFile', { path: uri('large') }, { answers })
    await eventually(() => asked.length === 1, 'the question for room')
    assert.deepEqual([asked, helper.busy], [[limits.messageBytes], 0])
    proceed()
    assert.equal(textOf(await answer).length, 3_000_000)
    await call(helper, 'fs/readDirectory', { path: uri('') }, { answers })
    assert.deepEqual(asked, [limits.messageBytes, 16 * 1024 * 1024])
  })

  test('is told and tells much at the same time', async () => {
    const helper = start()
    const texts = Array.from({ length: 4 }, (_, i) => `${i}`.repeat(5_000_000))
    const names = texts.map((text, i) => {
      writeFileSync(at(`much-${i}`), text)
      return `much-${i}`
    })
    const read = (name: string) => call(helper, 'fs/readFile', { path: uri(name) }).then(textOf)
    const write = (name: string, text: string) =>
      call(helper, 'fs/writeFile', { path: uri(`${name}-written`), dataBase64: btoa(text) })
    const [said] = await Promise.all([
      Promise.all(names.map(read)),
      Promise.all(names.map((name, i) => write(name, texts[i]!))),
    ])
    const isWritten = (name: string, i: number) => readFileSync(at(`${name}-written`), 'utf8') === texts[i]
    assert.ok(said.every((text, i) => text === texts[i]) && names.every(isWritten))
  })

  test('leaves nothing open, whether it has ended, was killed or could not be started', async () => {
    const open = () => readdirSync('/proc/self/fd').length
    const ended = start()
    await call(ended, 'fs/getMetadata', { path: uri('') })
    ended.end()
    await ended.ended
    await eventually(() => released.length === pids.length, 'the helper to be let go of')
    const before = open()
    for (const end of [(helper: FileHelper) => helper.end(), (helper: FileHelper) => helper.kill()]) {
      const helper = start()
      await call(helper, 'fs/getMetadata', { path: uri('') })
      end(helper)
      await helper.ended
    }
    assert.throws(() => start(['/nowhere/program']), { code: 'ENOENT' })
    let ends = 0
    const launch = () => ({ argv: ['sleep', '8878'], ended: () => void ends++ })
    const guard = () => {
      throw new Error('nobody watches over it')
    }
    assert.throws(() => start(undefined, { launch, guard }), /nobody watches/)
    await eventually(() => ends === 1, 'the one that nobody watches over to end')
    await eventually(() => open() <= before, 'everything to be closed')
  })

  test('keeps the handles of channels apart, and closes those of one that ends', async () => {
    writeFileSync(at('one'), 'one')
    writeFileSync(at('two'), 'two')
    const helper = start()
    await call(helper, 'fs/open', { path: uri('one'), handleId: 'h' }, { channel: 1 })
    await call(helper, 'fs/open', { path: uri('two'), handleId: 'h' }, { channel: 2 })
    const block = { handleId: 'h', offset: 0, len: 9 }
    assert.equal(textOf(await call(helper, 'fs/readBlock', block, { channel: 1 })), 'one')
    helper.endChannel(1)
    await assert.rejects(call(helper, 'fs/readBlock', block, { channel: 1 }), { code: -32004 })
    assert.equal(textOf(await call(helper, 'fs/readBlock', block, { channel: 2 })), 'two')
  })

  test('puts its files in order when it ends, and leaves the old content of what was not closed', async () => {
    writeFileSync(at('kept'), 'old')
    const helper = start()
    await call(helper, 'fs/open', { path: uri('kept'), handleId: 'h', mode: 'replace' })
    await call(helper, 'fs/writeBlock', { handleId: 'h', offset: 0, chunk: btoa('new') })
    helper.end()
    await helper.ended
    assert.equal(readFileSync(at('kept'), 'utf8'), 'old')
    await assert.rejects(call(helper, 'fs/readFile', { path: uri('kept') }), lost())
  })

  test('that is killed fails what it was asked, and nothing else', async () => {
    const helper = start()
    writeFileSync(at('tree'), '')
    await call(helper, 'fs/readFile', { path: uri('tree') })
    const asked = [1, 2].map(() =>
      call(helper, 'fs/grep', { path: fromPosixPath('/usr'), pattern: 'never-to-be-found' }),
    )
    helper.kill()
    for (const each of asked) await assert.rejects(each, lost())
    assert.deepEqual([helper.alive, helper.busy], [false, 0])
  })

  test('that takes too long is given up', async () => {
    const helper = start(['sh', '-c', 'cat >/dev/null; true'], { patienceMs: 50 })
    await assert.rejects(call(helper, 'fs/readFile', { path: uri('x') }), lost())
  })

  test('that does not listen any more, but lives, harms nobody when it is told much', async () => {
    const helper = start(['sh', '-c', 'exec 0<&-; : > "$0"; sleep 60', at('deaf')], { patienceMs: 100 })
    await eventually(() => existsSync(at('deaf')), 'the helper to stop listening')
    const write = { path: uri('x'), dataBase64: 'A'.repeat(300_000) }
    const asked = [1, 2].map(() => call(helper, 'fs/writeFile', write))
    for (const each of asked) await assert.rejects(each, lost())
  })

  test('that cannot be started says why', async () => {
    const ends: string[] = []
    const launch = () => ({
      argv: ['/nowhere/program'],
      start: <T>(spawn: (descriptors: readonly number[]) => T) => {
        ends.push('started')
        return spawn([])
      },
      ended: () => ends.push('ended'),
    })
    assert.throws(() => start(undefined, { launch }), { code: 'ENOENT' })
    assert.deepEqual(ends.sort(), ['ended', 'started'])
    const helper = start(['sh', '-c', 'echo out of order >&2; exit 1'])
    await assert.rejects(call(helper, 'fs/readFile', { path: uri('x') }), lost('out of order'))
  })
})

describe('a helper that says what it would never say', () => {
  const deep = (levels: number): object => (levels === 0 ? [] : [deep(levels - 1)])
  const frames = (...messages: object[]) => Buffer.concat(messages.flatMap((message) => encodeFrame(message)))
  const garbage: Record<string, Uint8Array> = {
    'no frame': Buffer.from('Segmentation fault, this is no frame at all'),
    'a frame without end': Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]),
    'an answer to nobody': frames({ id: 99, result: {} }),
    'an answer without content': frames({ id: 1 }),
    'that it needs no room': frames({ id: 1, needs: 0 }),
    'that it needs what it has': frames({ id: 1, needs: 5 }, { id: 2, needs: 5 }),
    'that it needs ever more': frames({ id: 1, needs: 5 }, { id: 2, needs: 6 }),
    'an answer that there is no room for': frames({ id: 1, result: { text: 'x'.repeat(1024 * 1024) } }),
    'an answer with bytes that there is no room for': Buffer.concat(
      encodeFrame({ id: 1, result: {}, bytes: 'dataBase64' }, Buffer.alloc(1024 * 1024)),
    ),
    'a list instead of an answer': Buffer.concat(encodeFrame({ id: 1, result: [], bytes: 'chunk' }, Buffer.from('x'))),
    'an answer without bottom': frames({ id: 1, result: { deep: deep(200) } }),
  }
  for (const [what, bytes] of Object.entries(garbage)) {
    test(`(${what}) is killed, and whoever waits is told`, async () => {
      const helper = saying(bytes)
      await assert.rejects(
        call(helper, 'fs/readFile', { path: uri('x') }),
        (error) => error instanceof ProtocolError && /has ended \(/.test(error.message),
      )
      await helper.ended
      assert.equal(helper.alive, false)
    })
  }
})
