import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError, type ProcessEvent } from '@waldo/environment'
import fc from 'fast-check'
import { PushedEvents } from './pushed-events.ts'

const MiB = 1024 * 1024
const output = (seq: number, size = 1): ProcessEvent => ({
  type: 'output',
  seq,
  stream: 'stdout',
  data: new Uint8Array(size),
})

async function read(source: PushedEvents, after = 0): Promise<ProcessEvent[]> {
  const events: ProcessEvent[] = []
  for await (const event of source.events(after, {})) events.push(event)
  return events
}

describe('events that are pushed', () => {
  test('are told once and in order, however they come', async () => {
    const count = 30
    const history: ProcessEvent[] = [
      ...Array.from({ length: count - 2 }, (_, index) => output(index + 1)),
      { type: 'exited', seq: count - 1, exitCode: 5, sandboxDenied: false },
      { type: 'closed', seq: count },
    ]
    const order = fc.array(fc.nat(count - 1), { maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(order, fc.nat(count), async (some, after) => {
        const source = new PushedEvents(() => {})
        const reading = Promise.all([read(source), read(source, after)])
        // Some of them twice, some early; in the end all have come.
        for (const index of some) source.add(history[index]!)
        for (const event of history) source.add(event)
        const [all, rest] = await Promise.race([reading, after === count ? Promise.all([read(source), []]) : reading])
        assert.deepEqual(all, history)
        if (after < count) assert.deepEqual(rest, history.slice(after))
        assert.deepEqual(await source.ended({}), { exitCode: 5, sandboxDenied: false })
      }),
      { numRuns: 50 },
    )
  })

  test('of which one never comes are given up when too many came after it', async () => {
    const source = new PushedEvents(() => {})
    const reading = read(source)
    for (let seq = 2; seq < 6000; seq++) source.add(output(seq))
    await assert.rejects(reading, (error) => ExecError.is(error, 'PROCESS_LOST'))
    await assert.rejects(source.ended({}), (error) => ExecError.is(error, 'PROCESS_LOST'))
  })

  test('are held back for a slow reader, and only for one', async () => {
    const holds: boolean[] = []
    const source = new PushedEvents((hold) => holds.push(hold))
    for (let seq = 1; seq <= 100; seq++) source.add(output(seq, MiB))
    assert.deepEqual(holds, [])
    const reader = source.events(source.last, {})[Symbol.asyncIterator]()
    const first = reader.next()
    for (let seq = 101; seq <= 106; seq++) source.add(output(seq, MiB))
    await first
    assert.deepEqual(holds, [true])
    for (let seq = 102; seq <= 105; seq++) assert.equal((await reader.next()).value.seq, seq)
    assert.deepEqual(holds, [true, false])
    source.add(output(107, 8 * MiB))
    assert.deepEqual(holds, [true, false, true])
    await reader.return(undefined)
    assert.deepEqual(holds, [true, false, true, false])
  })

  test('that nobody read are kept as far as possible: who wants all gets the rest, who has a place is told', async () => {
    const source = new PushedEvents(() => {})
    for (let seq = 1; seq <= 50; seq++) source.add(output(seq, MiB))
    source.add({ type: 'closed', seq: 51 })
    const rest = await read(source)
    assert.equal(rest.at(-1)?.seq, 51)
    assert.ok(rest.length >= 7 && rest.length < 12)
    await assert.rejects(read(source, 1), (error) => ExecError.is(error, 'PROCESS_LOST'))
  })

  test('that cannot be held back do not fill the memory', async () => {
    const source = new PushedEvents(() => {})
    const reader = source.events(0, {})[Symbol.asyncIterator]()
    const first = reader.next()
    for (let seq = 1; seq <= 80; seq++) source.add(output(seq, MiB))
    assert.equal((await first).value.seq, 1)
    assert.ok(source.last < 70)
    await assert.rejects(source.ended({}), (error) => ExecError.is(error, 'PROCESS_LOST'))
  })
})
