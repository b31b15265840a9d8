import assert from 'node:assert/strict'
import { createHash, randomFillSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { ProcessEvent } from '@waldo/environment'
import { all, bytesOf, said, until } from '../collect.ts'
import { scratch } from '../scratch.ts'
import { sh } from './processes.ts'
import type { Setting } from './setting.ts'

const MiB = 1024 * 1024
/** Much less than what is read, and more than the noise of a runtime. */
const MAX_GROWTH = 48 * MiB

export function outputBehaviour(setting: Setting): void {
  const { open } = setting

  test('output, exit and end are numbered without a gap, and the streams are kept apart', async () => {
    await using env = open()
    const process = await sh(env, 'for i in 1 2 3; do echo out $i; echo err $i >&2; sleep 0.02; done; exit 3')
    const events = await all(process.events())
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    )
    assert.equal(said(events, 'stdout'), 'out 1\nout 2\nout 3\n')
    assert.equal(said(events, 'stderr'), 'err 1\nerr 2\nerr 3\n')
    assert.deepEqual(events.slice(-2), [
      { type: 'exited', seq: events.length - 1, exitCode: 3, sandboxDenied: false },
      { type: 'closed', seq: events.length },
    ])
    assert.equal(await process.text({ stream: 'stderr' }), 'err 1\nerr 2\nerr 3\n')
  })

  test('the exit is told before what its children say later', async () => {
    await using env = open()
    const process = await sh(env, '(sleep 0.3; echo late) & echo early; exit 2')
    const events = await all(process.events())
    const kinds = events.map((event) => (event.type === 'output' ? Buffer.from(event.data).toString() : event.type))
    assert.deepEqual(kinds, ['early\n', 'exited', 'late\n', 'closed'])
  })

  test('reading goes on after any event', async () => {
    await using env = open()
    const process = await sh(env, '(sleep 0.2; echo late) & for i in 1 2 3; do echo $i; sleep 0.02; done; exit 1')
    const events = await all(process.events())
    for (let after = 0; after < events.length; after++) {
      assert.deepEqual(await all(process.events({ after })), events.slice(after))
    }
  })

  test('many readers, early and late, see the same', async () => {
    await using env = open()
    const process = await sh(env, 'for i in $(seq 50); do echo line $i; echo e $i >&2; sleep 0.005; done')
    const early = Promise.all(Array.from({ length: 8 }, () => all(process.events())))
    const [first, ...others] = await early
    for (const other of others) assert.deepEqual(other, first)
    assert.deepEqual(await all(process.events()), first)
    assert.equal((await process.text({ stream: 'stdout' })).split('\n').length, 51)
  })

  test('output is a stream that ends, and that can be left', async () => {
    await using env = open()
    const process = await sh(env, 'echo one; echo two >&2; echo three')
    assert.equal((await bytesOf(process.output({ stream: 'stdout' }))).toString(), 'one\nthree\n')
    await using endless = await sh(env, 'echo first; sleep 1000')
    const reader = endless.output().getReader()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'first\n')
    const next = reader.read()
    await reader.cancel()
    assert.equal((await next).done, true)
  })

  test('text is the end of what was said, if it was much', async () => {
    await using env = open()
    const process = await sh(env, 'seq 1 20000')
    const whole = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('')
    assert.equal(await process.text(), whole)
    assert.equal(await process.text({ maxBytes: 1000 }), whole.slice(-1000))
    const much = await sh(env, 'head -c 3000000 /dev/zero | tr "\\0" x; echo end')
    const text = await much.text()
    assert.equal(text.length, MiB)
    assert.ok(text.endsWith('xend\n'))
  })

  test('64 MiB that are read slowly arrive whole, and do not pile up here', async () => {
    await using env = open()
    using dir = scratch()
    const data = randomFillSync(Buffer.allocUnsafe(64 * MiB))
    writeFileSync(dir.at('data'), data)
    const expected = createHash('sha256').update(data).digest('hex')
    const process = await env.processes.start(['cat', dir.at('data')])
    const events = process.events()[Symbol.asyncIterator]()
    const hash = createHash('sha256')
    let length = 0
    const take = ({ value }: IteratorResult<ProcessEvent>) => {
      if (value?.type !== 'output') return
      hash.update(value.data)
      length += value.data.length
    }
    take(await events.next())
    const before = globalThis.process.memoryUsage.rss()
    // The process has long ended when we read on.
    await until(async () => (await env.processes.list())[0]?.state === 'closed')
    const growth = globalThis.process.memoryUsage.rss() - before
    for (let result = await events.next(); !result.done; result = await events.next()) take(result)
    assert.equal(length, data.length)
    assert.equal(hash.digest('hex'), expected)
    if (!setting.inProcess) assert.ok(growth < MAX_GROWTH, `${growth} bytes more in use`)
  })

  test('output nobody reads does not keep a process from ending', async () => {
    await using env = open()
    const process = await sh(env, 'head -c 20000000 /dev/zero')
    const { exitCode, bytes } = await process.wait()
    assert.deepEqual({ exitCode, bytes }, { exitCode: 0, bytes: { output: 20_000_000, dropped: 0 } })
  })
}
