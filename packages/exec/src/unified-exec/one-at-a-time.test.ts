import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { OneAtATime } from './one-at-a-time.ts'

const { signal: never } = new AbortController()

function gate() {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('one at a time', () => {
  test('in the order in which they came, whether or not those before fail', async () => {
    const turns = new OneAtATime()
    const order: number[] = []
    const first = gate()
    const all = [0, 1, 2].map((number) =>
      turns.run(async () => {
        if (number === 0) await first.opened
        order.push(number)
        if (number === 1) throw new Error('failed')
      }, never),
    )
    assert.deepEqual(order, [])
    assert.ok(turns.isBusy)
    first.open()
    const ends = await Promise.allSettled(all)
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    )
    assert.deepEqual(order, [0, 1, 2])
    assert.ok(!turns.isBusy)
  })

  test('whoever gives up waiting is answered at once, and nobody gets past those before', async () => {
    const turns = new OneAtATime()
    const first = gate()
    const giveUp = new AbortController()
    const order: string[] = []
    const one = turns.run(() => first.opened.then(() => void order.push('one')), never)
    const two = turns.run(async () => void order.push('two'), giveUp.signal)
    const three = turns.run(async () => void order.push('three'), never)
    giveUp.abort(new Error('no more'))
    await assert.rejects(two, { message: 'no more' })
    assert.deepEqual(order, [])
    first.open()
    await Promise.all([one, three])
    assert.deepEqual(order, ['one', 'three'])
  })

  test('tells when nobody is left', async () => {
    const turns = new OneAtATime()
    await turns.idle()
    const first = gate()
    let isDone = false
    const work = turns.run(() => first.opened.then(() => turns.isBusy), never)
    const later = turns.run(async () => {
      isDone = true
    }, never)
    const idle = turns.idle().then(() => assert.ok(isDone && !turns.isBusy))
    first.open()
    assert.equal(await work, true)
    await Promise.all([idle, later])
  })

  test('never lets two in, whoever gives up', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 20 }), async (givesUp) => {
        const turns = new OneAtATime()
        let inside = 0
        const all = givesUp.map((gives) => {
          const controller = new AbortController()
          const work = turns.run(async () => {
            assert.equal(++inside, 1)
            await new Promise((resolve) => setImmediate(resolve))
            inside--
          }, controller.signal)
          if (gives) controller.abort()
          return work
        })
        const ends = await Promise.allSettled(all)
        assert.deepEqual(
          ends.map(({ status }) => status === 'rejected'),
          givesUp,
        )
        assert.ok(!turns.isBusy)
      }),
    )
  })
})
