import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { OutputStream, ProcessExit } from '@waldo/protocol'
import fc from 'fast-check'
import type { LogCursor, LogEvent } from './log-cursor.ts'
import { defaultLogOptions, LogStore, type LogStoreOptions } from './log-store.ts'
import { OutputLog } from './output-log.ts'
import { SpillDirectory } from './spill-directory.ts'

const KiB = 1024
const MiB = 1024 * KiB
const EXIT: ProcessExit = { code: 0, signal: null, endedBy: 'self', atMs: 0 }

const temporary: string[] = []
after(() => {
  for (const directory of temporary) rmSync(directory, { recursive: true, force: true })
})

function stateDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'waldo-log-'))
  temporary.push(directory)
  return directory
}

function openStore(options: Partial<LogStoreOptions> = {}) {
  const directory = stateDir()
  const spill = new SpillDirectory(directory)
  const losses: unknown[] = []
  const store = new LogStore({
    ...defaultLogOptions,
    createSpillFile: () => spill.create(),
    onLoss: (cause) => losses.push(cause),
    ...options,
  })
  return { store, spill, directory, losses }
}

/** The bytes at these offsets of an endless stream in which every place can be told from its neighbours. */
function stuff(offset: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => ((offset + i) * 31 + ((offset + i) >> 8) * 7) & 255)
}

async function eventually(condition: () => boolean, what: string): Promise<void> {
  for (let i = 0; !condition(); i++) {
    assert.ok(i < 1000, `waited in vain for ${what}`)
    await Bun.sleep(5)
  }
}

async function next(cursor: LogCursor): Promise<LogEvent | undefined> {
  for (;;) {
    const event = cursor.peek()
    if (!(event instanceof Promise)) return event
    await event
  }
}

/** Reads on to the end of what is there; checks that it is what was written. */
class Checker {
  readonly #log: OutputLog
  readonly #streams: OutputStream[]
  cursor: LogCursor
  position = 0
  seq = 0
  dropped = 0
  ends: string[] = []

  constructor(log: OutputLog, streams: OutputStream[]) {
    this.#log = log
    this.#streams = streams
    this.cursor = log.cursor(0)
  }

  async read(events: number): Promise<void> {
    for (let i = 0; i < events; i++) {
      const event = await next(this.cursor)
      if (!event) return
      assert.equal(event.seq, ++this.seq, 'sequence numbers are contiguous')
      this.position += event.droppedBytes
      this.dropped += event.droppedBytes
      if (event.kind === 'exited' || event.kind === 'closed') this.ends.push(event.kind)
      if (event.data.length > 0) {
        assert.ok(Buffer.from(stuff(this.position, event.data.length)).equals(event.data), `bytes at ${this.position}`)
        for (let at = 0; at < event.data.length; at += 1000) assert.equal(event.kind, this.#streams[this.position + at])
        this.position += event.data.length
      }
      this.cursor.advance(event)
    }
  }

  /** The wire is cut, and somebody comes back who knows how far they got. */
  resume(): void {
    this.cursor = this.#log.cursor(this.seq, this.position)
  }
}

describe('a log', () => {
  test('any interleaving of appends, reads, cuts and evictions: every byte once, in order, or a counted gap', async () => {
    const step = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('append'),
          err: fc.boolean(),
          size: fc.integer({ min: 1, max: 120 * KiB }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constant('append'), err: fc.boolean(), size: fc.integer({ min: 1, max: 10 }) }),
      },
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('read'), who: fc.nat(2), events: fc.integer({ min: 1, max: 12 }) }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('cut'), who: fc.nat(2) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('exit') }) },
      { weight: 2, arbitrary: fc.record({ do: fc.constant('settle') }) },
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 120 }),
        fc.constantFrom(MiB, 2 * MiB, 64 * MiB),
        fc.constantFrom(0, 64 * MiB),
        async (steps, quotaBytes, memoryBytes) => {
          const { store, spill } = openStore({ quotaBytes, memoryBytes })
          const log = new OutputLog(store, 'stdout')
          const streams: OutputStream[] = []
          const readers = [0, 1, 2].map(() => new Checker(log, streams))
          for (const it of steps as { do: string; err: boolean; size: number; who: number; events: number }[]) {
            if (it.do === 'append') {
              const stream = it.err ? 'stderr' : 'stdout'
              log.append(stream, stuff(streams.length, it.size))
              for (let i = 0; i < it.size; i++) streams.push(stream)
            } else if (it.do === 'read') await readers[it.who]!.read(it.events)
            else if (it.do === 'cut') readers[it.who]!.resume()
            else if (it.do === 'exit') log.markExited(EXIT)
            else await Bun.sleep(0)
          }
          log.markExited(EXIT)
          log.markClosed()
          for (const reader of readers) {
            await reader.read(Number.POSITIVE_INFINITY)
            assert.equal(reader.position, log.outputBytes)
            assert.equal(reader.seq, log.closedSeq)
            assert.deepEqual(reader.ends, ['exited', 'closed'])
            assert.ok(reader.dropped <= log.droppedBytes)
          }
          // What is kept fits the quota, give or take the segment that is being filled.
          assert.ok(log.outputBytes - log.droppedBytes <= Math.max(quotaBytes, 512 * KiB))
          log.discard()
          await spill.remove()
          assert.equal(store.memoryBytes, 0)
          assert.equal(store.diskBytes, 0)
        },
      ),
      { numRuns: 60 },
    )
  })

  test('joins small pieces that nobody has seen yet, and leaves seen ones alone', async () => {
    const { store } = openStore()
    const log = new OutputLog(store, 'pty')
    const cursor = log.cursor(0)
    for (let i = 0; i < 10; i++) log.append('pty', stuff(i, 1))
    const first = (await next(cursor))!
    assert.equal(first.data.length, 10)
    cursor.advance(first)
    log.append('pty', stuff(10, 1))
    assert.deepEqual([(await next(cursor))?.seq, (await next(cursor))?.data.length], [2, 1])
  })

  test('tells its listeners of every change until they stop listening', () => {
    const log = new OutputLog(openStore().store, 'stdout')
    let calls = 0
    const stop = log.onEvent(() => calls++)
    log.append('stdout', stuff(0, 1))
    log.markExited(EXIT)
    log.markClosed()
    assert.equal(calls, 3)
    stop()
    log.append('stdout', stuff(0, 1))
    assert.equal(calls, 3)
    assert.equal(log.outputBytes, 1, 'nothing comes after closed')
  })
})

describe('a producer', () => {
  async function produce(log: OutputLog, bytes: number) {
    for (let at = 0; at < bytes; at += 64 * KiB) {
      log.append('stdout', stuff(at, 64 * KiB))
      await log.pressure()
    }
  }

  test('is not held back when nobody follows, and memory stays small', async () => {
    const { store } = openStore()
    const log = new OutputLog(store, 'stdout')
    let most = 0
    const stop = log.onEvent(() => {
      most = Math.max(most, store.memoryBytes)
    })
    await produce(log, 32 * MiB)
    stop()
    assert.ok(most < 4 * MiB, `${most} bytes in memory`)
    assert.equal(log.droppedBytes, 0)
    log.discard()
  })

  test('waits for a follower that keeps up, and not for long for one that does not', async () => {
    const { store } = openStore({ patienceMs: 50 })
    const log = new OutputLog(store, 'stdout')
    const cursor = log.cursor(0)
    log.follow(cursor)
    log.append('stdout', stuff(0, 600 * KiB))
    const held = log.pressure()
    assert.ok(held, 'the reader is more than the window behind')
    while (cursor.backlogBytes > 200 * KiB) cursor.advance((await next(cursor))!)
    await held
    assert.equal(log.pressure(), undefined)

    log.append('stdout', stuff(0, 600 * KiB))
    await log.pressure()
    assert.equal(log.pressure(), undefined, 'after the patience the reader is left behind')
    while (await next(cursor)) cursor.advance((await next(cursor))!)
    log.append('stdout', stuff(0, 600 * KiB))
    assert.ok(log.pressure(), 'a reader that has caught up counts again')
    log.unfollow(cursor)
    assert.equal(log.pressure(), undefined)
    log.discard()
  })

  test('that writes past the quota is slowed down, not stopped', async () => {
    const { store } = openStore({ quotaBytes: MiB })
    const log = new OutputLog(store, 'stdout')
    await produce(log, 4 * MiB)
    assert.equal(log.outputBytes, 4 * MiB)
    assert.ok(log.droppedBytes >= 2.5 * MiB)
    log.discard()
  })
})

describe('the disk', () => {
  const fill = async (log: OutputLog, bytes: number) => {
    for (let at = 0; at < bytes; at += 256 * KiB) {
      log.append('stdout', stuff(at, 256 * KiB))
      await log.pressure()
    }
  }
  const files = (directory: string) =>
    readdirSync(directory, { recursive: true }).filter((name) => String(name).endsWith('.log'))

  test('holds private files, which go with the log, and the directory with the server', async () => {
    const { store, spill, directory } = openStore()
    const log = new OutputLog(store, 'stdout')
    await fill(log, 4 * MiB)
    const [file] = files(directory)
    assert.equal(statSync(join(directory, String(file))).mode & 0o777, 0o600)
    assert.equal(statSync(join(directory, 'logs')).mode & 0o777, 0o700)
    log.discard()
    await Bun.sleep(20)
    assert.deepEqual(files(directory), [])
    await spill.remove()
    assert.deepEqual(readdirSync(join(directory, 'logs')), [])
  })

  test('is not touched by a process that says little', () => {
    const { store, directory } = openStore()
    const log = new OutputLog(store, 'stdout')
    log.append('stdout', stuff(0, 100 * KiB))
    log.markClosed()
    assert.ok(!existsSync(join(directory, 'logs')))
  })

  test('takes ended logs when memory is tight, and they stay readable', async () => {
    const { store, directory } = openStore({ memoryBytes: 256 * KiB })
    const logs = Array.from({ length: 20 }, () => {
      const log = new OutputLog(store, 'stdout')
      log.append('stdout', stuff(0, 50 * KiB))
      log.markExited(EXIT)
      log.markClosed()
      return log
    })
    while (store.memoryIsTight) await Bun.sleep(1)
    assert.ok(files(directory).length >= 10)
    await Bun.sleep(20)
    const open = readdirSync('/proc/self/fd').length
    for (const log of logs) {
      const reader = new Checker(log, Array(50 * KiB).fill('stdout'))
      await reader.read(Number.POSITIVE_INFINITY)
      assert.deepEqual([reader.position, reader.dropped, reader.ends.length], [50 * KiB, 0, 2])
    }
    await Bun.sleep(20)
    assert.ok(readdirSync('/proc/self/fd').length <= open, 'reading leaves no descriptor open')
    for (const log of logs) log.discard()
  })

  const usedBy = (directory: string) =>
    readdirSync(directory, { recursive: true })
      .map((name) => statSync(join(directory, String(name))))
      .reduce((sum, { blocks }) => sum + blocks * 512, 0)

  test('has a limit for all together: first the oldest that has ended goes, then whoever holds most gives', async () => {
    const { store, directory } = openStore({ diskBytes: 6 * MiB })
    const [ended, later, small, large] = [0, 1, 2, 3].map(() => new OutputLog(store, 'stdout')) as OutputLog[]
    for (const log of [ended!, later!]) {
      await fill(log, 3 * MiB)
      log.markExited(EXIT)
      log.markClosed()
    }
    await fill(small!, 2 * MiB)
    const dropped = () => [ended!, later!, small!, large!].map((log) => log.droppedBytes > 0)
    const fillUntil = async (victim: OutputLog) => {
      while (victim.droppedBytes === 0) await fill(large!, 256 * KiB)
    }
    await fillUntil(ended!)
    assert.deepEqual(dropped(), [true, false, false, false])
    await fillUntil(later!)
    assert.deepEqual(dropped(), [true, true, false, false])
    await fillUntil(large!)
    await fill(large!, 8 * MiB)
    assert.deepEqual(dropped(), [true, true, false, true])
    assert.ok(store.diskBytes <= 6 * MiB)
    await eventually(() => usedBy(directory) <= 7 * MiB, 'the disk to say so too')
    for (const log of [ended!, later!, small!, large!]) log.discard()
  })

  test('may fail: what cannot be written is dropped, counted and reported once', async () => {
    const { store, losses } = openStore({
      createSpillFile: () => {
        throw new Error('no such place')
      },
    })
    const log = new OutputLog(store, 'stdout')
    await fill(log, 8 * MiB)
    assert.equal(losses.length, 1)
    const reader = new Checker(log, Array(8 * MiB).fill('stdout'))
    await reader.read(Number.POSITIVE_INFINITY)
    assert.equal(reader.position, 8 * MiB)
    assert.ok(reader.dropped > 5 * MiB && reader.dropped === log.droppedBytes)
    log.discard()
  })

  test('a file that somebody truncates is lost output, not a broken reader', async () => {
    const { store, directory, losses } = openStore()
    const log = new OutputLog(store, 'stdout')
    await fill(log, 4 * MiB)
    await Bun.write(join(directory, String(files(directory)[0])), '')
    const reader = new Checker(log, Array(4 * MiB).fill('stdout'))
    await reader.read(Number.POSITIVE_INFINITY)
    assert.equal(reader.position, 4 * MiB)
    assert.ok(reader.dropped > 0)
    assert.equal(losses.length, 1)
    log.discard()
  })

  test('files of dead servers are swept, those of live ones are not', async () => {
    const directory = stateDir()
    const live = new SpillDirectory(directory)
    live.create()
    const script = `const { SpillDirectory } = await import(${JSON.stringify(join(import.meta.dir, 'spill-directory.ts'))});
      await new SpillDirectory(${JSON.stringify(directory)}).create().write(new Uint8Array(10)); process.kill(process.pid, 'SIGKILL')`
    await Bun.spawn([process.execPath, '-e', script]).exited
    assert.equal(readdirSync(join(directory, 'logs')).length, 2)
    await new SpillDirectory(directory).sweep()
    assert.equal(readdirSync(join(directory, 'logs')).length, 1)
    await live.remove()
  })

  test('a lax directory is tightened before anything is written to it', () => {
    const directory = stateDir()
    new SpillDirectory(directory).create()
    chmodSync(join(directory, 'logs'), 0o777)
    new SpillDirectory(directory).create()
    assert.equal(statSync(join(directory, 'logs')).mode & 0o777, 0o700)
  })
})
