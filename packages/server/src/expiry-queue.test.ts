import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExpiryQueue } from './expiry-queue.ts'

describe('an expiry queue', () => {
  test('expires in order, what is left in it', async () => {
    const queue = new ExpiryQueue<string>(50)
    const expired: string[] = []
    const add = (name: string) => queue.add(name, () => expired.push(name))
    add('a')
    add('b')
    add('c')
    queue.remove('b')
    await Bun.sleep(30)
    add('a') // begins anew
    await Bun.sleep(35)
    assert.deepEqual(expired, ['c'])
    await Bun.sleep(40)
    assert.deepEqual([expired, queue.size], [['c', 'a'], 0])
  })

  test('with no end keeps everything', async () => {
    const queue = new ExpiryQueue<string>(Number.POSITIVE_INFINITY)
    queue.add('a', () => assert.fail('it expired'))
    await Bun.sleep(20)
    assert.deepEqual([...queue], ['a'])
  })
})
