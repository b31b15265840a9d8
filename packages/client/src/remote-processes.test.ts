import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError, type ManagedNetwork } from '@waldo/environment'
import type { Capabilities } from '@waldo/protocol'
import type { Connect, TransportEvents } from '@waldo/rpc'
import { ExecSession } from './exec-session.ts'
import { RemoteProcesses } from './remote-processes.ts'

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const NOTHING = { chunks: [], nextSeq: 1, exited: false, exitCode: null, closed: false, failure: null }
const VERDICT = {
  sandboxDenied: true,
  sandboxDenials: [{ kind: 'file', path: '/x', access: 'write', rule: 'read root', confidence: 'likely' }],
  sandboxFailed: true,
  limitHit: { kind: 'wallMs', detail: 'too long' },
}

interface Received {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown> | null
  readonly result?: unknown
  readonly error?: unknown
}

/** An executor whose processes end when they are told to, and which asks its client. */
class AskingExecutor {
  readonly #capabilities: Capabilities
  readonly #reads: { processId: string; answer: (page: object) => void }[] = []
  readonly #answers = new Map<number, (answer: unknown) => void>()
  #events: TransportEvents | undefined
  #lastQuestion = 0
  /** The start of any other process is refused. */
  allowed: string[] = []
  starts: Record<string, unknown>[] = []

  constructor(capabilities: Capabilities) {
    this.#capabilities = { networkProxyLaunch: true, ...capabilities }
  }

  readonly connect: Connect = async (events) => {
    this.#events = events
    return {
      queuedBytes: 0,
      send: (text) => queueMicrotask(() => this.#receive(JSON.parse(text))),
      close: async () => events.closed('closed'),
    }
  }

  ask(processId: string): Promise<unknown> {
    const id = ++this.#lastQuestion
    const request = { protocol: 'http', host: 'example.test', port: 80 }
    this.#say({ id, method: 'network/policyRequest', params: { processId, request } })
    return new Promise((resolve) => this.#answers.set(id, resolve))
  }

  say(method: string, params: object): void {
    this.#say({ method, params })
  }

  end(processId: string): void {
    const page = { ...NOTHING, nextSeq: 3, exited: true, exitCode: 1, closed: true, ...VERDICT }
    for (const read of this.#reads) if (read.processId === processId) read.answer(page)
  }

  #receive({ id, method, params, result, error }: Received): void {
    if (id === undefined) return
    if (method === undefined) this.#answers.get(id)?.(error ?? result)
    else this.#answer(id, method, params ?? {})
  }

  #answer(id: number, method: string, params: Record<string, unknown>): void {
    const processId = String(params.processId)
    const answer = (result: unknown) => this.#say({ id, result })
    if (method === 'initialize') {
      answer({ sessionId: 's', environmentInfo: { cwd: 'file:///', capabilities: this.#capabilities } })
    } else if (method === 'process/read') {
      this.#reads.push({ processId, answer })
    } else if (method !== 'process/start') answer({})
    else {
      this.starts.push(params)
      if (this.allowed.includes(processId)) answer({ processId })
      else this.#say({ id, error: { code: -32600, message: 'refused' } })
    }
  }

  #say(message: object): void {
    this.#events?.received(JSON.stringify(message))
  }
}

function open(capabilities: Capabilities = { processPull: true }) {
  const executor = new AskingExecutor(capabilities)
  const session = new ExecSession({ name: 'fake', connect: executor.connect, resumable: false })
  return { executor, session, processes: new RemoteProcesses(session, undefined) }
}

const ALLOWED = { decision: { type: 'allow' } }
const allowing: ManagedNetwork = { decide: () => 'allow' }
const isError = (answer: unknown) => (answer as { code?: number }).code === -32603

describe('a process with a managed network', () => {
  test('has somebody who decides and somebody who listens as long as it runs, and no longer', async () => {
    const { executor, session, processes } = open()
    executor.allowed = ['a', 'b']
    const heard: string[] = []
    const network = (name: string): ManagedNetwork => ({
      decide: () => (name === 'a' ? 'allow' : { deny: name }),
      onDecision: ({ host }) => heard.push(`${name} ${host}`),
    })
    const a = await processes.start(['x'], { id: 'a', network: network('a') })
    await processes.start(['x'], { id: 'b', network: network('b') })
    assert.deepEqual(await executor.ask('a'), ALLOWED)
    assert.deepEqual(await executor.ask('b'), { decision: { type: 'deny', reason: 'b' } })
    assert.ok(isError(await executor.ask('somebody else')))
    executor.say('network/policyDecision', { processId: 'b', host: 'one.test' })
    executor.say('network/policyDecision', { processId: 'a', host: 'two.test' })
    executor.say('network/policyDecision', { processId: 'c', host: 'three.test' })
    assert.deepEqual(heard, ['b one.test', 'a two.test'])
    const ended = a.wait()
    await turn()
    executor.end('a')
    await ended
    await turn()
    assert.deepEqual([session.networks.has('a'), session.networks.has('b')], [false, true])
    assert.ok(isError(await executor.ask('a')))
    await session.close()
    assert.equal(session.networks.has('b'), false)
  })

  test('that could not be started leaves nobody behind', async () => {
    const { executor, session, processes } = open()
    await assert.rejects(processes.start(['x'], { id: 'a', network: allowing }), (error) =>
      ExecError.is(error, 'REFUSED'),
    )
    assert.equal(session.networks.has('a'), false)
    assert.ok(isError(await executor.ask('a')))
    await session.close()
  })

  test('keeps its decider when another is started under its id', async () => {
    const { executor, session, processes } = open()
    executor.allowed = ['a']
    await processes.start(['x'], { id: 'a', network: allowing })
    const second = processes.start(['x'], { id: 'a', network: { decide: () => ({ deny: 'other' }) } })
    await assert.rejects(second, (error) => ExecError.is(error, 'REFUSED') && /already exists/.test(error.message))
    assert.deepEqual(await executor.ask('a'), ALLOWED)
    await session.close()
  })
})

describe('the end of a process', () => {
  test('says what the executor says, asked for or sent', async () => {
    for (const capabilities of [{ processPull: true }, {}]) {
      const { executor, session, processes } = open(capabilities)
      executor.allowed = ['a']
      const process = await processes.start(['x'], { id: 'a' })
      const ended = process.wait()
      await turn()
      executor.end('a')
      executor.say('process/exited', { processId: 'a', seq: 1, exitCode: 1, ...VERDICT })
      executor.say('process/closed', { processId: 'a', seq: 2 })
      const { sandboxDenied, sandboxDenials, sandboxFailed, limitHit } = await ended
      assert.deepEqual({ sandboxDenied, sandboxDenials, sandboxFailed, limitHit }, VERDICT)
      const events = process.events()[Symbol.asyncIterator]()
      const exited = events.next()
      await turn()
      executor.end('a')
      assert.deepEqual((await exited).value, { type: 'exited', seq: 1, exitCode: 1, ...VERDICT })
      await session.close()
    }
  })
})

describe('a start', () => {
  test('under an id that is taken leaves the first what it is sent', async () => {
    const { executor, session, processes } = open({})
    executor.allowed = ['a']
    const first = await processes.start(['x'], { id: 'a' })
    await assert.rejects(processes.start(['x'], { id: 'a' }), (error) => ExecError.is(error, 'REFUSED'))
    executor.say('process/exited', { processId: 'a', seq: 1, exitCode: 4 })
    executor.say('process/closed', { processId: 'a', seq: 2 })
    assert.equal((await first.wait()).exitCode, 4)
    await session.close()
  })

  test('with limits, or a network, is not sent to an executor that would ignore them', async () => {
    const { executor, session, processes } = open({ networkProxyLaunch: false })
    const unsupported = (error: unknown) => ExecError.is(error, 'UNSUPPORTED')
    await assert.rejects(processes.start(['x'], { limits: { wallMs: 1 } }), unsupported)
    await assert.rejects(processes.start(['x'], { network: {} }), unsupported)
    assert.deepEqual(executor.starts, [])
    await session.close()
  })
})
