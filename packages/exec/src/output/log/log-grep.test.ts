import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { LogBudget } from './log-budget.ts'
import { ProcessLog } from './process-log.ts'

function logOf(text: string, maxBytes?: number): ProcessLog {
  const log = new ProcessLog(new LogBudget(), maxBytes)
  log.push(new TextEncoder().encode(text))
  return log
}

describe('searching a log', () => {
  test('gives lines with their numbers and offsets', () => {
    const log = logOf('ok 1\r\nerror: 2\r\nok 3\r\nerror: 4')
    assert.deepEqual(log.grep({ pattern: '^error: \\d$' }), {
      lines: [
        { line: 2, offset: 6, text: 'error: 2', cutBefore: 0, cutAfter: 0, isMatch: true },
        { line: 4, offset: 22, text: 'error: 4', cutBefore: 0, cutAfter: 0, isMatch: true },
      ],
      matches: 2,
      searchedBytes: 30,
      unsearchedBytes: 0,
      skippedBytes: 0,
      missingBytes: 0,
    })
  })

  test('shows each line once, with those around it', () => {
    const log = logOf('a\nb\nX\nc\nX\nd\ne\nf\nX\n')
    const shown = ({ context }: { context: number }) =>
      log.grep({ pattern: 'X', context }).lines.map(({ line, text, isMatch }) => `${line}${isMatch ? ':' : '-'}${text}`)
    assert.deepEqual(shown({ context: 0 }), ['3:X', '5:X', '9:X'])
    assert.deepEqual(shown({ context: 1 }), ['2-b', '3:X', '4-c', '5:X', '6-d', '8-f', '9:X'])
    assert.deepEqual(shown({ context: 9 }), ['1-a', '2-b', '3:X', '4-c', '5:X', '6-d', '7-e', '8-f', '9:X'])
  })

  test('finds the lines that a plain search finds, in as many calls as it takes', () => {
    const line = fc.array(fc.constantFrom('a', 'b', 'X', '€'), { maxLength: 6 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (lines, maxMatches) => {
        const log = logOf(lines.map((line) => `${line}\n`).join(''), 100)
        const found: string[] = []
        for (let offset: number | undefined = 0; offset !== undefined; ) {
          const result = log.grep({ pattern: 'aX|b$', maxMatches, offset })
          assert.ok(result.matches <= maxMatches)
          found.push(...result.lines.map(({ line, text, isTail }) => (isTail ? '' : `${line}:${text}`)))
          offset = result.nextOffset
        }
        const first = log.lines({ from: 1, count: 1000 }).lines.find(({ isTail }) => !isTail)?.line ?? Infinity
        const expected = lines.flatMap((line, i) => (i + 1 >= first && /aX|b$/.test(line) ? [`${i + 1}:${line}`] : []))
        assert.deepEqual(found.filter(Boolean), expected)
      }),
    )
  })

  test('shows a very long line around what was found in it', () => {
    const { lines } = logOf(`${'x'.repeat(100_000)}needle${'y'.repeat(100_000)}\n`).grep({ pattern: 'needle' })
    const [line] = lines
    assert.equal(line!.text.length, 2000)
    assert.match(line!.text, /x{900}needle/)
    assert.equal(line!.cutBefore + line!.text.length + line!.cutAfter, 200_006)
  })

  test('stops when the answer is full, and says where to go on', () => {
    const log = logOf(`${'x'.repeat(1999)}\n`.repeat(100))
    const first = log.grep({ pattern: 'x', context: 1 })
    assert.ok(first.matches > 20 && first.matches < 40, String(first.matches))
    assert.equal(first.searchedBytes + first.unsearchedBytes, 200_000)
    assert.equal(first.nextOffset, first.matches * 2000)
    const second = log.grep({ pattern: 'x', offset: first.nextOffset })
    assert.equal(second.lines[0]!.line, first.matches + 1)
  })

  test('tells what is no longer kept', () => {
    const log = logOf('error\n'.repeat(100), 64)
    const { missingBytes, matches, lines } = log.grep({ pattern: '^error$' })
    assert.equal(missingBytes, log.droppedBytes)
    assert.ok(matches > 0)
    assert.equal(lines.at(-1)!.line, 100)
  })

  test('for what takes too long ends, and says from where on nothing was searched', () => {
    let seed = 1
    const random = () => {
      seed = (seed * 48_271) % 0x7fffffff
      return seed % 2 === 0 ? 'a' : 'b'
    }
    const hard = Array.from({ length: 200_000 }, random).join('')
    const log = logOf(`easy c\n${hard}\nc\n`)
    const pattern = '[ab]*a[ab]{700}[ab]{700}c|^easy'
    const first = log.grep({ pattern })
    assert.equal(first.matches, 1)
    assert.deepEqual({ next: first.nextOffset, rest: first.unsearchedBytes }, { next: 7, rest: 200_003 })
    const second = log.grep({ pattern, offset: first.nextOffset })
    assert.deepEqual({ skipped: second.skippedBytes, next: second.nextOffset }, { skipped: 200_001, next: 200_008 })
    const third = log.grep({ pattern, offset: second.nextOffset })
    assert.deepEqual({ searched: third.searchedBytes, next: third.nextOffset }, { searched: 2, next: undefined })
  })
})
