import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError, type ProcessEvent } from '@waldo/environment'
import type { ProcessReadResult } from '@waldo/protocol'
import fc from 'fast-check'
import { PulledEvents, type ReadPage } from './pulled-events.ts'

/** A process on an executor, which says chunks of these sizes, a few more with each question. */
function executor(sizes: readonly number[], perQuestion: number) {
  let said = 0
  const open = { now: 0, most: 0 }
  const read: ReadPage = async ({ afterSeq, maxBytes }) => {
    open.most = Math.max(open.most, ++open.now)
    said = Math.min(sizes.length, said + perQuestion)
    // Somebody else's turn.
    await new Promise((resolve) => setImmediate(resolve))
    open.now--
    const chunks: ProcessReadResult['chunks'] = []
    let bytes = 0
    for (let seq = afterSeq + 1; seq <= said; seq++) {
      const size = sizes[seq - 1]!
      if (chunks.length > 0 && bytes + size > maxBytes) break
      bytes += size
      chunks.push({ seq, stream: 'stdout', chunk: Buffer.alloc(size, seq).toString('base64') })
    }
    const ended = said === sizes.length
    const nextSeq = chunks.length > 0 ? chunks.at(-1)!.seq + 1 : said + 1 + (ended ? 2 : 0)
    return {
      chunks,
      nextSeq,
      exited: ended,
      exitCode: ended ? 3 : null,
      closed: ended,
      failure: null,
      sandboxDenied: false,
    }
  }
  return { read, open }
}

const KiB = 1024
/** Alike, as those of a flood, or not. */
const sizes = fc.oneof(
  fc.nat(200).map((length) => Array.from({ length }, () => 64 * KiB)),
  fc.array(fc.constantFrom(1, 100, 8 * KiB, 64 * KiB), { maxLength: 200 }),
)

describe('events that are asked for', () => {
  test('come in order and without a gap, whatever comes in a page', async () => {
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 100 }), fc.nat(50), async (chunks, perQuestion, from) => {
        const { read, open } = executor(chunks, perQuestion)
        const after = Math.min(from, chunks.length)
        const seen: (number | string)[] = []
        for await (const event of new PulledEvents(read).events(after, {})) {
          assert.equal(event.seq, after + seen.length + 1)
          if (event.type === 'output') assert.ok(event.data.every((byte) => byte === event.seq % 256))
          seen.push(event.type === 'output' ? event.data.length : event.type)
        }
        assert.deepEqual(seen, [...chunks.slice(after), 'exited', 'closed'])
        assert.ok(open.most <= 3, `${open.most} questions at a time`)
      }),
      { numRuns: 60 },
    )
  })

  test('are not asked for by a reader that does not read', async () => {
    let questions = 0
    const { read } = executor(
      Array.from({ length: 1000 }, () => 64 * KiB),
      1000,
    )
    const events = new PulledEvents((...args) => {
      questions++
      return read(...args)
    }).events(0, {})
    await events.next()
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    assert.ok(questions <= 3)
    await events.return(undefined)
  })

  test('that are no longer kept end the reading with PROCESS_LOST', async () => {
    const page = { exited: false, exitCode: null, closed: false, failure: null, sandboxDenied: false } as const
    const chunks = [{ seq: 9, stream: 'stdout' as const, chunk: '' }]
    const source = new PulledEvents(async () => ({ ...page, chunks, nextSeq: 10 }))
    const next: Promise<IteratorResult<ProcessEvent>> = source.events(0, {}).next()
    await assert.rejects(next, (error) => ExecError.is(error, 'PROCESS_LOST'))
  })
})
