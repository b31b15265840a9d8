import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LogBudget } from './log-budget.ts'
import { ProcessLog } from './process-log.ts'

const encode = (text: string) => new TextEncoder().encode(text)

function logOf(text: string, maxBytes?: number): ProcessLog {
  const log = new ProcessLog(new LogBudget(), maxBytes)
  log.push(encode(text))
  return log
}

describe('a log', () => {
  test('is read page by page, by offset', () => {
    const log = logOf('0123456789')
    assert.deepEqual(log.read({ offset: 0, maxBytes: 4 }), {
      text: '0123',
      offset: 0,
      nextOffset: 4,
      missingBytes: 0,
      totalBytes: 10,
    })
    assert.equal(log.read({ offset: 8, maxBytes: 4 }).text, '89')
    assert.deepEqual(log.read({ offset: 10 }), {
      text: '',
      offset: 10,
      nextOffset: 10,
      missingBytes: 0,
      totalBytes: 10,
    })
    assert.equal(log.read({ offset: 1e9 }).nextOffset, 10)
  })

  test('has no page that ends inside a character, and goes on even in what is none', () => {
    const log = logOf('ab€cd')
    assert.deepEqual(log.read({ offset: 0, maxBytes: 4 }).text, 'ab')
    assert.equal(log.read({ offset: 2, maxBytes: 4 }).text, '€c')
    assert.equal(log.read({ offset: 2, maxBytes: 1 }).nextOffset, 3)
    const unfinished = new ProcessLog(new LogBudget())
    unfinished.push(encode('€').subarray(0, 2))
    assert.deepEqual(unfinished.read({ offset: 0 }).text, '\ufffd')
  })

  test('read to its end gives back all that was said', () => {
    const chunks = fc.array(fc.string({ unit: 'grapheme', maxLength: 30 }), { maxLength: 20 })
    fc.assert(
      fc.property(chunks, fc.integer({ min: 4, max: 20 }), (chunks, maxBytes) => {
        const log = new ProcessLog(new LogBudget())
        for (const chunk of chunks) log.push(encode(chunk))
        let text = ''
        for (let offset = 0; offset < log.totalBytes; ) {
          const page = log.read({ offset, maxBytes })
          text += page.text
          offset = page.nextOffset
        }
        assert.equal(text, chunks.join(''))
      }),
    )
  })

  test('drops the oldest when it is full, counts it, and keeps offsets and line numbers', () => {
    const chunks = fc.array(fc.constantFrom('a\n', 'bcd', '\n', 'some longer line\n', 'x\r\n', 'y'.repeat(50)), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(chunks, fc.integer({ min: 16, max: 200 }), (chunks, maxBytes) => {
        const all = chunks.join('')
        const log = new ProcessLog(new LogBudget(), maxBytes)
        for (const chunk of chunks) log.push(encode(chunk))
        assert.equal(log.totalBytes, all.length)
        assert.ok(log.heldBytes <= maxBytes)
        // A sixteenth goes at once, and the block that is being filled is not full.
        if (all.length > maxBytes) assert.ok(log.totalBytes - log.droppedBytes >= maxBytes * (1 - 3 / 16) - 3)
        else assert.equal(log.droppedBytes, 0)
        const page = log.read({ offset: 0 })
        assert.equal(page.text, all.slice(log.droppedBytes))
        assert.equal(page.missingBytes, log.droppedBytes)
        const lines = all.split('\n')
        if (lines.at(-1) === '') lines.pop()
        const result = log.lines({ from: 1, count: 1000 })
        assert.equal(result.totalLines, lines.length)
        assert.equal(result.droppedBytes, log.droppedBytes)
        assert.equal(result.missingLines + result.lines.length, lines.length)
        for (const { line, text, offset, isTail } of result.lines) {
          const whole = lines[line - 1]!.replace(/\r$/, '')
          assert.ok(isTail ? whole.endsWith(text) : whole === text, JSON.stringify({ whole, text, isTail }))
          assert.ok(all.startsWith(text, offset))
          assert.deepEqual(
            log.lines({ from: line, count: 1 }).lines.map((each) => each.text),
            [text],
          )
          assert.deepEqual(
            log.lines({ from: line - lines.length - 1, count: 1 }).lines.map((each) => each.line),
            [line],
          )
        }
      }),
    )
  })

  test('that is closed keeps nothing, and counts what comes late', () => {
    const budget = new LogBudget()
    const log = new ProcessLog(budget)
    log.push(encode('abc'))
    assert.ok(budget.heldBytes > 0)
    log.close()
    log.push(encode('de'))
    assert.equal(budget.heldBytes, 0)
    assert.deepEqual(log.read({ offset: 0 }), { text: '', offset: 5, nextOffset: 5, missingBytes: 5, totalBytes: 5 })
    log.close()
  })

  test('costs nothing while nothing is said, and little for a short output', () => {
    const budget = new LogBudget()
    const log = new ProcessLog(budget)
    assert.equal(budget.heldBytes, 0)
    log.push(encode('hello'))
    assert.equal(budget.heldBytes, 4096)
  })

  test('refuses numbers that are none', () => {
    const log = logOf('abc')
    for (const offset of [-1, 0.5, Number.NaN])
      assert.throws(() => log.read({ offset }), /`offset` is .*: give a whole number/)
    assert.throws(() => log.read({ offset: 0, maxBytes: 0 }), RangeError)
    assert.throws(() => log.lines({ from: 0, count: 1 }), /lines are counted from 1/)
    assert.throws(() => log.lines({ from: 1, count: 0 }), RangeError)
    assert.throws(() => log.grep({ pattern: 'a', context: 11 }), /`context` is 11: give a whole number from 0 to 10/)
    assert.throws(() => new ProcessLog(new LogBudget(), 15), RangeError)
  })
})

describe('lines of a log', () => {
  test('are counted from the beginning or from the end', () => {
    const log = logOf('one\ntwo\r\nthree')
    const two = { line: 2, offset: 4, text: 'two', cutBefore: 0, cutAfter: 0 }
    assert.deepEqual(log.lines({ from: 2, count: 1 }), {
      lines: [two],
      missingLines: 0,
      totalLines: 3,
      nextLine: 3,
      droppedBytes: 0,
    })
    assert.deepEqual(log.lines({ from: -2, count: 1 }).lines, [two])
    assert.deepEqual(
      log.lines({ from: -99, count: 99 }).lines.map(({ text }) => text),
      ['one', 'two', 'three'],
    )
    assert.deepEqual(log.lines({ from: 4, count: 9 }), { lines: [], missingLines: 0, totalLines: 3, droppedBytes: 0 })
    assert.deepEqual(logOf('').lines({ from: -1, count: 1 }).lines, [])
  })

  test('that are too long are cut, and there are only so many in one answer', () => {
    const [line] = logOf(`${'€'.repeat(1000)}\n`).lines({ from: 1, count: 1 }).lines
    assert.deepEqual(line, { line: 1, offset: 0, text: '€'.repeat(666), cutBefore: 0, cutAfter: 1002 })
    const log = logOf(`${'x'.repeat(999)}\n`.repeat(100))
    const { lines, nextLine } = log.lines({ from: 11, count: 1000 })
    assert.equal(lines.length, 65)
    assert.equal(nextLine, 76)
    const empty = logOf('\n'.repeat(5000)).lines({ from: 1001, count: 5000 })
    assert.equal(empty.lines.length, 2000)
    assert.equal(empty.nextLine, 3001)
  })
})

describe('the room of all logs', () => {
  test('is taken from the largest, so that a quiet process keeps what it said', () => {
    const budget = new LogBudget(256 * 1024)
    const quiet = new ProcessLog(budget)
    const loud = new ProcessLog(budget)
    quiet.push(encode('important\n'))
    for (let i = 0; i < 100; i++) loud.push(new Uint8Array(10_000).fill(0x78))
    const late = new ProcessLog(budget)
    late.push(encode('me too\n'))
    assert.ok(budget.heldBytes <= 256 * 1024)
    assert.equal(budget.heldBytes, quiet.heldBytes + loud.heldBytes + late.heldBytes)
    assert.equal(quiet.droppedBytes, 0)
    assert.equal(late.droppedBytes, 0)
    assert.equal(loud.totalBytes, 1_000_000)
    assert.ok(loud.droppedBytes > 700_000)
  })

  test('is never exceeded, whoever says how much and comes and goes', () => {
    const action = fc.record({ log: fc.nat(3), bytes: fc.nat(90_000), close: fc.boolean() })
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const budget = new LogBudget(128 * 1024)
        const logs = Array.from({ length: 4 }, () => new ProcessLog(budget, 100_000))
        for (const { log, bytes, close } of actions) {
          if (close && bytes < 9000) {
            logs[log]!.close()
            logs[log] = new ProcessLog(budget, 100_000)
          } else logs[log]!.push(new Uint8Array(bytes))
          assert.equal(
            budget.heldBytes,
            logs.reduce((sum, { heldBytes }) => sum + heldBytes, 0),
          )
          assert.ok(budget.heldBytes <= 128 * 1024)
        }
      }),
    )
  })

  test('is at least a block', () => {
    assert.throws(() => new LogBudget(1000), /give at least 65536/)
  })
})
