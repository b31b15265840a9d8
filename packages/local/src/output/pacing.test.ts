import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Pacing } from './pacing.ts'

const MiB = 1024 * 1024

describe('pacing', () => {
  test('a reader that stalls is left behind, and waited for again when it is fast', async () => {
    let now = 0
    const pacing = new Pacing(10, () => now)
    assert.equal(pacing.hold(0.1 * MiB), undefined)
    const held = pacing.hold(2 * MiB)
    assert.ok(held)
    await held
    assert.equal(pacing.hold(50 * MiB), undefined, 'nobody waits for it')
    now += 20
    pacing.progress(50 * MiB, 0.1 * MiB)
    assert.equal(pacing.hold(50 * MiB), undefined, 'it reads, but slowly')
    now += 20
    pacing.progress(49 * MiB, 1.5 * MiB)
    assert.ok(pacing.hold(49 * MiB), 'it is fast')
    pacing.release()
  })

  test('a reader that goes on being fast is waited for as long as it takes', async () => {
    let now = 0
    const pacing = new Pacing(50, () => now)
    let free = false
    void pacing.hold(20 * MiB)!.then(() => {
      free = true
    })
    for (let read = 0; read < 19 * MiB; read += MiB) {
      now += 20
      pacing.progress(20 * MiB - read, read)
      await Bun.sleep(10)
    }
    assert.equal(free, false)
    pacing.progress(0.2 * MiB, 19.8 * MiB)
    await Bun.sleep(0)
    assert.equal(free, true)
  })
})
