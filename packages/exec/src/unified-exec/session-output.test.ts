import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LogBudget } from '../output/log/log-budget.ts'
import { ProcessLog } from '../output/log/process-log.ts'
import { SessionOutput } from './session-output.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (data: Uint8Array) => new TextDecoder().decode(data)

function newOutput() {
  const deltas: Uint8Array[] = []
  return { output: new SessionOutput(new ProcessLog(new LogBudget()), (data) => deltas.push(data.slice())), deltas }
}

describe('what a process says', () => {
  test('is taken once, and every part says where it begins', () => {
    const chunks = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.boolean()), { maxLength: 20 })
    fc.assert(
      fc.property(chunks, (chunks) => {
        const { output, deltas } = newOutput()
        let taken = ''
        for (const [chunk, takes] of chunks) {
          output.push(bytes(chunk), 0)
          if (!takes) continue
          const part = output.takeUnread()
          assert.equal(part.offset, bytes(taken).length)
          taken += text(part.output.bytes())
        }
        assert.equal(output.takenTo, bytes(taken).length)
        taken += text(output.takeUnread().output.bytes())
        const all = chunks.map(([chunk]) => chunk).join('')
        assert.equal(taken, all)
        assert.equal(output.end().output, all)
        assert.equal(deltas.map(text).join(''), all)
        assert.equal(output.log.totalBytes, bytes(all).length)
      }),
    )
  })

  test('what was lost on the way is told once', () => {
    const { output } = newOutput()
    output.push(bytes(''), 500)
    output.push(bytes('x'), 7)
    assert.equal(output.takeUnread().droppedBytes, 507)
    assert.equal(output.takeUnread().droppedBytes, 0)
    assert.equal(output.end().omittedBytes, 507)
  })

  test('after the end is still taken and kept, but not told as it comes', () => {
    const { output, deltas } = newOutput()
    output.push(bytes('early'), 0)
    assert.deepEqual(output.end(), { output: 'early', omittedBytes: 0 })
    output.push(bytes('late'), 0)
    assert.deepEqual(deltas.map(text), ['early'])
    assert.equal(text(output.takeUnread().output.bytes()), 'earlylate')
    assert.equal(output.log.read({ offset: 0 }).text, 'earlylate')
  })

  test('is told as it comes up to ten thousand times', () => {
    const { output, deltas } = newOutput()
    for (let i = 0; i < 10_500; i++) output.push(bytes('.'), 0)
    assert.equal(deltas.length, 10_000)
    assert.equal(output.end().output.length, 10_500)
  })
})
