import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LineSplitter, LineTooLongError } from './line-splitter.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('lines', () => {
  test('are the same however the bytes are cut', () => {
    const whole = bytes('one\r\n\n  \r\ntwö ☃\nlast')
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: whole.length })), (cuts) => {
        const splitter = new LineSplitter(100)
        const lines: string[] = []
        const edges = [0, ...cuts.sort((a, b) => a - b), whole.length]
        for (let i = 1; i < edges.length; i++) lines.push(...splitter.push(whole.subarray(edges[i - 1], edges[i])))
        assert.deepEqual([...lines, splitter.end()], ['one\r', 'twö ☃', 'last'])
        assert.equal(splitter.end(), undefined)
      }),
    )
  })

  test('may be as long as the limit and no longer', () => {
    const splitter = new LineSplitter(4)
    assert.deepEqual([...splitter.push(bytes('1234\r\n12')), ...splitter.push(bytes('34\n'))], ['1234\r', '1234'])
    assert.throws(() => [...splitter.push(bytes('123456'))], LineTooLongError)
    assert.throws(() => [...new LineSplitter(4).push(bytes('123456\n'))], LineTooLongError)
  })

  test('must be UTF-8', () => {
    assert.throws(() => [...new LineSplitter(10).push(Uint8Array.from([0xff, 0x0a]))], TypeError)
  })
})
