import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ProcessEvent } from '@waldo/environment'
import type { ProcessReadResult } from '@waldo/protocol'
import fc from 'fast-check'
import { eventsOfPage } from './page-events.ts'

/** Everything that ever happens to a process: output, an exit somewhere, more output, the end. */
const history = fc
  .record({ before: fc.nat(6), after: fc.nat(4), exits: fc.boolean(), closes: fc.boolean() })
  .map(({ before, after, exits, closes }) => {
    const output = (seq: number): ProcessEvent => ({ type: 'output', seq, stream: 'stdout', data: Buffer.from([seq]) })
    const events = Array.from({ length: before }, (_, index) => output(index + 1))
    if (!exits) return events
    events.push({ type: 'exited', seq: before + 1, exitCode: 7, sandboxDenied: false })
    for (let index = 0; index < after; index++) events.push(output(events.length + 1))
    if (closes) events.push({ type: 'closed', seq: events.length + 1 })
    return events
  })

/** What an executor answers, by the letter of the protocol. */
function answer(events: readonly ProcessEvent[], after: number, maxChunks: number | undefined): ProcessReadResult {
  const output = events.filter((event) => event.type === 'output' && event.seq > after)
  const chunks = output.slice(0, maxChunks).map((event) => {
    assert.ok(event.type === 'output')
    return { seq: event.seq, stream: event.stream, chunk: Buffer.from(event.data).toString('base64') }
  })
  const exit = events.find(({ type }) => type === 'exited')
  const paged = maxChunks !== undefined && chunks.length > 0
  return {
    chunks,
    nextSeq: paged ? chunks.at(-1)!.seq + 1 : events.length + 1,
    exited: exit !== undefined,
    exitCode: exit?.type === 'exited' ? exit.exitCode : null,
    closed: events.at(-1)?.type === 'closed',
    failure: null,
    sandboxDenied: false,
  }
}

const plain = (events: readonly ProcessEvent[]) =>
  events.map((event) => (event.type === 'output' ? { ...event, data: [...event.data] } : event))

describe('the events of a page', () => {
  test('are all that happened, read in any steps from any place while it happens', () => {
    fc.assert(
      fc.property(
        history,
        fc.nat(12),
        fc.array(fc.record({ chunks: fc.integer({ min: 1, max: 5 }), happened: fc.nat(12) })),
        (events, from, steps) => {
          const start = Math.min(from, events.length)
          let after = start
          let exitSeen = false
          const seen: ProcessEvent[] = []
          // In the end everything has happened, and is read to the end.
          const rest = Array.from({ length: 20 }, () => ({ chunks: 2, happened: events.length }))
          let known = start
          for (const { chunks, happened } of [...steps, ...rest]) {
            known = Math.max(known, Math.min(happened, events.length))
            const page: ProcessEvent[] = [
              ...eventsOfPage(answer(events.slice(0, known), after, chunks), after, exitSeen),
            ]
            seen.push(...page)
            after = page.at(-1)?.seq ?? after
            exitSeen ||= page.some(({ type }) => type === 'exited')
          }
          assert.deepEqual(plain(seen), plain(events.slice(start)))
        },
      ),
    )
  })

  test('of an answer without a limit are all that happened so far', () => {
    fc.assert(
      fc.property(history, fc.nat(12), (events, from) => {
        const after = Math.min(from, events.length)
        const exitSeen = events.slice(0, after).some(({ type }) => type === 'exited')
        const page = [...eventsOfPage(answer(events, after, undefined), after, exitSeen)]
        assert.deepEqual(plain(page), plain(events.slice(after)))
      }),
    )
  })

  test('that are no longer kept are not passed over in silence', () => {
    const chunk = (seq: number) => ({ seq, stream: 'stdout' as const, chunk: '' })
    const page = { exited: false, exitCode: null, closed: false, failure: null, sandboxDenied: false }
    const read = (result: Pick<ProcessReadResult, 'chunks' | 'nextSeq'>, exitSeen = false) => [
      ...eventsOfPage({ ...page, ...result }, 1, exitSeen),
    ]
    assert.throws(() => read({ chunks: [chunk(4)], nextSeq: 5 }), /events 2 to 3 are no longer kept/)
    assert.throws(() => read({ chunks: [chunk(3)], nextSeq: 4 }, true), /events 2 to 2 are no longer kept/)
    assert.throws(() => read({ chunks: [], nextSeq: 4 }), /events 2 to 3 are no longer kept/)
    assert.throws(() => read({ chunks: [chunk(2), chunk(2)], nextSeq: 3 }))
  })
})
