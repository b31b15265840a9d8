import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { countedIds, PLACES, Talk } from './place.ts'

const CALLS = 10_000
const AT_ONCE = 8
/** What an executor remembers of ended processes is full by then, and so are our receipts. */
const SETTLED = 5000
const MiB = 1024 * 1024

const skip = process.platform === 'linux' ? false : 'descriptors are counted in /proc'

/** So that what is measured is what is held. */
function collectGarbage(): void {
  const { Bun } = globalThis as { Bun?: { gc(now: true): void } }
  if (Bun) {
    Bun.gc(true)
    return
  }
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

test('ten thousand calls leave nothing behind', { skip, timeout: 300_000 }, async () => {
  await using place = await PLACES.local()
  const { ids, taken } = countedIds()
  await using talk = new Talk(place, { ids })
  const turn = await talk.turn
  // A call of its own signal, and one that has only its turn's.
  const controller = new AbortController()
  const once = async (number: number) => {
    const options = number % 2 === 0 ? {} : { signal: controller.signal }
    const { exitCode, output } = await talk.run('exec_command', { cmd: 'echo hi' }, options)
    assert.deepEqual([exitCode, output], [0, 'hi\n'])
  }
  const run = async (calls: number) => {
    for (let done = 0; done < calls; done += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => once(done + index)))
      // What is counted is counted: it is the test's own memory.
      talk.events.length = 0
    }
    collectGarbage()
    return { descriptors: readdirSync('/proc/self/fd').length, memory: process.memoryUsage.rss() }
  }
  const settled = await run(SETTLED)
  const after = await run(CALLS - SETTLED)
  assert.ok(after.descriptors <= settled.descriptors + 5, `${settled.descriptors} → ${after.descriptors} descriptors`)
  const grown = Math.round((after.memory - settled.memory) / MiB)
  assert.ok(grown < 64, `${grown} MiB more`)
  const processes = await place.environment.processes.list()
  assert.deepEqual(
    processes.filter(({ state }) => state !== 'closed'),
    [],
  )
  assert.ok(processes.length <= 4097)
  assert.equal(taken().length, 128)
  assert.equal(getEventListeners(turn.signal, 'abort').length, 0)
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  assert.equal((await talk.call('list_sessions', {})).text, 'No sessions are open.')
})
