import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import type { Connect, TransportEvents } from '@waldo/rpc'
import fc from 'fast-check'
import { ExecSession } from './exec-session.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** An executor with one session, on wires that end when they are told to: before, between and after messages. */
class FakeExecutor {
  /** How many calls each connection lives to see, and whether it lives to see the last answer. */
  readonly lives: { calls: number; answers: boolean }[]
  readonly done: number[] = []
  connections = 0
  open = 0
  known = true

  constructor(lives: { calls: number; answers: boolean }[]) {
    this.lives = lives
  }

  readonly connect: Connect = async (events) => {
    await turn()
    this.connections++
    this.open++
    const life = this.lives.shift()
    let calls = 0
    let ended = false
    const end = () => {
      if (ended) return
      ended = true
      this.open--
      events.closed('cut')
    }
    return {
      queuedBytes: 0,
      send: (text) => {
        const { id, method, params } = JSON.parse(text)
        if (ended || id === undefined) return
        const isLast = life !== undefined && calls++ >= life.calls
        if (isLast && !life.answers) return void setImmediate(end)
        const answer = this.#answer(method, params)
        setImmediate(() => {
          if (!ended) this.#say(events, { id, ...answer })
          if (isLast) end()
        })
      },
      close: async () => end(),
    }
  }

  #answer(method: string, params: { resumeSessionId?: string | null; value?: number }): object {
    if (method === 'initialize') {
      if (params.resumeSessionId && !this.known) return { error: { code: -32600, message: 'unknown session' } }
      const environmentInfo = { capabilities: { sessionRetention: true, sessionEnd: true }, detachedTtlMs: null }
      return { result: { sessionId: 'the-session', environmentInfo } }
    }
    if (params.value !== undefined) this.done.push(params.value)
    return { result: params.value ?? null }
  }

  #say(events: TransportEvents, message: object): void {
    events.received(JSON.stringify(message))
  }
}

const open = (executor: FakeExecutor, resumable = true) =>
  new ExecSession({ name: 'fake', connect: executor.connect, resumable })

describe('a session', () => {
  test('makes every call that may be repeated, wherever its wires are cut', async () => {
    const life = fc.record({ calls: fc.nat(4), answers: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(life, { maxLength: 4 }), fc.integer({ min: 1, max: 8 }), async (lives, count) => {
        // The first attempt is not repeated by itself: whoever wanted it is told.
        const executor = new FakeExecutor([{ calls: 2, answers: true }, ...lives])
        const session = open(executor)
        const resumed: number[] = []
        session.join({
          resumed: async ({ peer }) => {
            await peer.call('again', {})
            resumed.push(executor.connections)
          },
          lost: (error) => assert.ok(ExecError.is(error, 'CLOSED')),
        })
        const values = Array.from({ length: count }, (_, value) => value)
        const answers = await Promise.all(values.map((value) => session.call('echo', { value }, { resend: true })))
        assert.deepEqual(answers, values)
        assert.deepEqual([...new Set(executor.done)].sort(), values)
        await session.close()
        assert.equal(executor.open, 0)
      }),
      { numRuns: 30 },
    )
  })

  test('makes a call that may not be repeated once or not at all, and says so', async () => {
    for (const answers of [true, false]) {
      const executor = new FakeExecutor([{ calls: 1, answers }])
      const session = open(executor)
      const call = session.call('echo', { value: 1 })
      if (answers) assert.equal(await call, 1)
      else await assert.rejects(call, (error) => ExecError.is(error, 'DISCONNECTED'))
      assert.equal(await session.call('echo', { value: 2 }), 2)
      assert.deepEqual(executor.done, answers ? [1, 2] : [2])
      await session.close()
    }
  })

  test('that the executor does not know any more is lost, and the next use opens another', async () => {
    const executor = new FakeExecutor([{ calls: 1, answers: false }])
    executor.known = false
    const session = open(executor)
    const lost: string[] = []
    session.join({ lost: ({ code }) => lost.push(code) })
    const call = session.call('echo', { value: 1 }, { resend: true, sessionId: 'the-session' })
    await assert.rejects(call, (error) => ExecError.is(error, 'SESSION_LOST'))
    assert.deepEqual(lost, ['SESSION_LOST'])
    assert.equal(session.status.state, 'failed')
    assert.equal(await session.call('echo', { value: 2 }), 2)
    await session.close()
  })

  test('on a wire that nobody can come back to is lost with it', async () => {
    const executor = new FakeExecutor([{ calls: 1, answers: false }])
    const session = open(executor, false)
    const call = session.call('echo', { value: 1 }, { resend: true })
    await assert.rejects(call, (error) => ExecError.is(error, 'DISCONNECTED'))
    assert.equal(executor.connections, 1)
    await session.close()
  })

  test('closed at any moment ends everything with CLOSED and leaves no wire open', async () => {
    const life = fc.record({ calls: fc.nat(3), answers: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(life, { maxLength: 3 }), fc.nat(12), async (lives, turns) => {
        const executor = new FakeExecutor([{ calls: 2, answers: true }, ...lives])
        const session = open(executor)
        const calls = [1, 2, 3].map((value) =>
          session.call('echo', { value }, { resend: true }).catch((error) => assert.ok(ExecError.is(error, 'CLOSED'))),
        )
        for (let index = 0; index < turns; index++) await turn()
        await session.close()
        await Promise.all(calls)
        assert.equal(executor.open, 0)
        assert.equal(session.status.state, 'closed')
        await assert.rejects(session.live(), (error) => ExecError.is(error, 'CLOSED'))
      }),
      { numRuns: 60 },
    )
  })
})
