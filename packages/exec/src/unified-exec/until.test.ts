import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LogBudget } from '../output/log/log-budget.ts'
import { ProcessLog } from '../output/log/process-log.ts'
import { parseUntil, type UntilArgument, untilNotes } from './until.ts'
import { UntilWatch } from './until-watch.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const matching = (match: string) => new UntilWatch(parseUntil({ match }))

describe('what a call waits for', () => {
  test('is one thing', () => {
    assert.equal(parseUntil(undefined), undefined)
    assert.deepEqual(parseUntil('exit'), { kind: 'exit' })
    assert.deepEqual(parseUntil('output'), { kind: 'output' })
    assert.deepEqual(parseUntil({ idle_ms: 5 }), { kind: 'idle', ms: 5 })
    assert.deepEqual(parseUntil({ idle_ms: 5, match: null }), { kind: 'idle', ms: 5 })
    assert.equal(parseUntil({ idle_ms: null, match: 'x' })?.kind, 'match')
  })

  test('is told what is wrong with it', () => {
    const wrong: UntilArgument[] = [{}, { idle_ms: 1, match: 'x' }, { match: null }, { idle_ms: 0 }, { idle_ms: -1 }]
    for (const until of wrong) assert.throws(() => parseUntil(until), { name: 'InvalidCall', message: /`until/ })
    for (const match of ['(', '[', 'a{99999}', '(?<=x)', 'x'.repeat(100_000), '((a{99}){99}){99}']) {
      assert.throws(() => parseUntil({ match }), { name: 'InvalidCall', message: /^`until\.match`: / })
    }
  })

  test('an output is anything that is said', () => {
    const watch = new UntilWatch({ kind: 'output' })
    assert.equal(watch.push(bytes('')), false)
    assert.equal(watch.push(bytes('\n')), true)
    assert.equal(new UntilWatch(undefined).push(bytes('x')), false)
    assert.equal(new UntilWatch({ kind: 'exit' }).push(bytes('x')), false)
  })

  test('a line is found across the borders of what comes, and before it has ended', () => {
    const watch = matching('ready>')
    assert.deepEqual(
      ['almost rea', 'dy', '>'].map((text) => watch.push(bytes(text))),
      [false, false, true],
    )
  })

  test('a line that has not ended has an end if nothing follows', () => {
    const until = parseUntil({ match: '^ready> $' })
    const watch = new UntilWatch(until)
    const push = (text: string) => [watch.push(bytes(text)), watch.mayHaveCome]
    assert.deepEqual(push('no\nrea'), [false, false])
    assert.deepEqual(push('dy> '), [false, true])
    assert.deepEqual(push('for more\n'), [false, false])
    assert.deepEqual(push('ready> '), [false, true])
    assert.deepEqual(untilNotes(until), ['`until.match` has not come'])
    watch.end()
    assert.deepEqual(untilNotes(until), [])
  })

  test('a line is found by its beginning, however long it is', () => {
    const watch = matching('^start.*end')
    assert.equal(watch.push(bytes('start')), false)
    for (let i = 0; i < 100; i++) assert.equal(watch.push(bytes('x'.repeat(1000))), false)
    assert.equal(watch.push(bytes('end')), true)
  })

  test('a line is not more than a line', () => {
    const watch = matching('one.*two')
    assert.equal(watch.push(bytes('one\ntwo\none ')), false)
    assert.equal(watch.push(bytes('and two')), true)
  })

  test('the end of a line of a terminal is its end', () => {
    assert.equal(matching('listening$').push(bytes('listening\r\nmore')), true)
    assert.equal(matching('^$').push(bytes('x\r\n\r\ny')), true)
  })

  test('is also found in what came before the wait, from where that counts', () => {
    const log = new ProcessLog(new LogBudget())
    log.push(bytes(`old prompt\n${'x'.repeat(200_000)}\nnew prompt\n`))
    assert.equal(matching('^old').sees(log, 0), true)
    assert.equal(matching('^old').sees(log, 11), false)
    assert.equal(matching('^new').sees(log, 11), true)
    assert.equal(new UntilWatch({ kind: 'output' }).sees(log, log.totalBytes - 1), true)
    assert.equal(new UntilWatch({ kind: 'output' }).sees(log, log.totalBytes), false)
    // A line that had begun before the wait.
    log.push(bytes('almost '))
    const watch = matching('^almost there')
    assert.equal(watch.sees(log, 0), false)
    assert.equal(watch.push(bytes('there')), true)
    // Even a character.
    log.push(Uint8Array.of(0xe2, 0x82))
    const price = matching('^almost €')
    assert.equal(price.sees(log, log.totalBytes - 9), false)
    assert.equal(price.push(Uint8Array.of(0xac)), true)
  })

  test('a hostile pattern over hostile output is given up, and that is told', () => {
    const until = parseUntil({ match: 'x.{400}y.{400}z' })
    const watch = new UntilWatch(until)
    let state = 1
    const random = Uint8Array.from({ length: 1_000_000 }, () => {
      state = (state * 48_271) % 2_147_483_647
      return 0x78 + (state % 2)
    })
    assert.equal(watch.push(random), false)
    assert.match(untilNotes(until).join(), /too hard for this output/)
    assert.deepEqual(untilNotes(undefined), [])
    assert.deepEqual(untilNotes(parseUntil({ match: 'x' })), ['`until.match` has not come'])
  })
})
