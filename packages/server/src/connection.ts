import {
  type EnvironmentInfo,
  ErrorCode,
  limits,
  methods,
  type Params,
  ProtocolError,
  type SandboxInfo,
} from '@waldo/protocol'
import {
  encodeError,
  encodeResult,
  type IdText,
  MalformedMessageError,
  type Message,
  parseMessage,
  type Request,
} from '@waldo/rpc'
import { ClientCalls } from './client-calls.ts'
import { ConnectionServices, type Services } from './connection-services.ts'
import { EncodedResult } from './encoded-result.ts'
import { LargeAnswers } from './large-answers.ts'
import { Link } from './link.ts'
import { Liveness } from './liveness.ts'
import { OutputPump } from './output-pump.ts'
import { type Call, type DecodedCall, decodeCall, route } from './router.ts'
import type { Session } from './session.ts'
import type { Attachment, SessionRegistry } from './session-registry.ts'
import { CloseCode, type TextParts, type Wire, type WireEvents } from './wire.ts'
import { toWireError } from './wire-error.ts'

const JSON_LIMITS = { maxDepth: limits.jsonDepth, maxValues: limits.jsonValues }
/** Calls of one connection that wait for something at a time, and what they hold in bytes. */
const MAX_CALLS = 4096
const MAX_CALL_BYTES = 128 * 1024 * 1024
/** A connection that has not shaken hands by then is of no use to anybody. */
const HANDSHAKE_MS = 60_000

type Handshake =
  | { readonly state: 'new' }
  /** `initialize` is being answered; what comes after it waits here. */
  | { readonly state: 'initializing'; readonly waiting: string[] }
  /** Answered, but the client has not said `initialized` yet. */
  | { readonly state: 'answered'; readonly session: Session }
  | { readonly state: 'ready'; readonly session: Session; readonly call: Call }
  | { readonly state: 'closed' }

export interface ConnectionContext {
  readonly sessions: SessionRegistry
  /** Made when somebody needs them. */
  readonly services: () => Services
  readonly environmentInfo: () => EnvironmentInfo
  readonly sandboxInfo: () => SandboxInfo
  /** Whether a session ends with its connection, because nobody could come back for it. */
  readonly endsSession: boolean
  /** The client has shaken hands. */
  readonly onReady: () => void
  readonly onClosed: () => void
}

/** One client on one wire: shakes hands, takes calls, sends answers and events. */
export class Connection implements WireEvents, Attachment {
  readonly #wire: Wire
  readonly #context: ConnectionContext
  readonly #link: Link
  readonly #liveness: Liveness
  readonly #gone = new AbortController()
  readonly #answers: LargeAnswers
  readonly sink: OutputPump
  readonly client: ClientCalls
  #handshake: Handshake = { state: 'new' }
  readonly #openedAt = performance.now()
  /** We have said goodbye: what still comes in is not for us. */
  #leaving = false
  #calls = 0
  #callBytes = 0
  #readingPaused = false

  constructor(wire: Wire, context: ConnectionContext) {
    this.#wire = wire
    this.#context = context
    this.#link = new Link(wire)
    this.#liveness = new Liveness(this.#link)
    this.#answers = new LargeAnswers(this.#link)
    this.sink = new OutputPump(this.#link)
    this.client = new ClientCalls(this.#link)
  }

  received(text: string): void {
    this.#liveness.heard()
    if (this.#leaving) return
    if (this.#handshake.state === 'initializing') this.#handshake.waiting.push(text)
    else this.#receive(text)
  }

  ponged(token: string): void {
    this.#liveness.heard()
    this.#link.ponged(token)
    this.#writable()
  }

  drained(): void {
    this.#liveness.heard()
    this.#throttle()
    this.#writable()
  }

  closed(): void {
    const { session, call } = this.#handshake as { session?: Session; call?: Call }
    this.#handshake = { state: 'closed' }
    try {
      this.#gone.abort()
      this.#answers.close()
      this.sink.close()
      this.client.close()
      call?.services.close()
    } finally {
      // Whatever goes wrong with what it held: the session must be free for the next.
      if (session) {
        this.#context.sessions.detach(session, this)
        if (this.#context.endsSession) this.#context.sessions.end(session)
      }
      this.#context.onClosed()
    }
  }

  /** Called every second. Drops a client that has stopped answering, so that its session can be resumed. */
  tick(): void {
    // Whom we do not listen to cannot be heard.
    if (this.#isBusy && !this.#answers.full) this.#liveness.heard()
    if (this.#liveness.isDead()) this.#wire.terminate()
    else if (this.#handshake.state === 'new' && performance.now() - this.#openedAt > HANDSHAKE_MS) {
      this.close(CloseCode.policyViolation, `initialize did not come within ${HANDSHAKE_MS / 1000} s`)
    } else this.#writable() // A reader that stalled may have been given up on.
  }

  isAlive(): Promise<boolean> {
    return this.#liveness.probe()
  }

  evict(): void {
    this.#wire.terminate()
  }

  close(code: number, reason: string): void {
    this.#leaving = true
    this.#wire.close(code, reason)
  }

  #receive(text: string): void {
    let message: Message
    try {
      message = parseMessage(text, JSON_LIMITS)
    } catch (error) {
      if (!(error instanceof MalformedMessageError)) throw error
      this.#sendError(
        '-1',
        ErrorCode.invalidRequest,
        `failed to parse message from ${this.#wire.name}: ${error.message}`,
      )
      return
    }
    switch (message.kind) {
      case 'request':
        this.#answer(message, text.length)
        break
      case 'notification':
        this.#notified(message.method)
        break
      case 'response':
        if (!this.client.answered(message)) this.#violation('this executor has asked nothing that this could answer')
    }
  }

  #notified(method: string): void {
    if (method === 'initialized') {
      if (this.#handshake.state === 'new') this.#violation('initialized comes after initialize')
      else if (this.#handshake.state === 'answered') {
        const { session } = this.#handshake
        this.#handshake = { state: 'ready', session, call: this.#createCall(session) }
        // Learns how far away the client is before there is any traffic to wait behind.
        this.#link.ping()
        this.#context.onReady()
      }
    } else if (Object.hasOwn(methods, method)) this.#violation(`${method} is a request and needs an id`)
    // Notifications that we do not know may come from clients newer than we are.
  }

  #answer({ id, method, params }: Request, bytes: number): void {
    try {
      const call = decodeCall(method, params)
      if (call.method === 'initialize') this.#initialize(id, call.params as Params<'initialize'>)
      else this.#call(id, call, bytes)
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #initialize(id: IdText, { resumeSessionId }: Params<'initialize'>): void {
    if (this.#handshake.state !== 'new') {
      throw new ProtocolError(ErrorCode.invalidRequest, 'initialize may only be sent once per connection')
    }
    const { sessions } = this.#context
    if (resumeSessionId === undefined) {
      this.#initialized(id, sessions.open(this))
      return
    }
    const waiting: string[] = []
    this.#handshake = { state: 'initializing', waiting }
    // What is on its way already has to wait; nothing more is taken in.
    this.#wire.pauseReading()
    void sessions
      .resume(resumeSessionId, this)
      .then(
        (session) => {
          // The newcomer may have left while we were looking after the session's last holder.
          if (this.#handshake.state === 'closed') sessions.detach(session, this)
          else this.#initialized(id, session)
        },
        (error) => {
          if (this.#handshake.state === 'initializing') this.#handshake = { state: 'new' }
          this.#fail(id, error)
        },
      )
      .then(() => {
        if (this.#handshake.state === 'closed') return
        this.#wire.resumeReading()
        for (const text of waiting) this.received(text)
      })
  }

  #initialized(id: IdText, session: Session): void {
    this.#handshake = { state: 'answered', session }
    this.#send(encodeResult(id, { sessionId: session.id, environmentInfo: this.#context.environmentInfo() }))
  }

  #call(id: IdText, call: DecodedCall, bytes: number): void {
    const handshake = this.#handshake
    if (handshake.state !== 'ready') {
      const { family } = methods[call.method]
      const missing = handshake.state === 'new' ? 'call initialize' : 'send initialized'
      throw new ProtocolError(ErrorCode.invalidRequest, `client must ${missing} before using ${family} methods`)
    }
    const answer = route(call, handshake.call)
    if (answer instanceof Promise) this.#answerLater(id, answer, bytes)
    else this.#sendResult(id, answer)
  }

  /** What handlers get to see of this connection: the same for every call. */
  #createCall(session: Session): Call {
    const services = new ConnectionServices({
      session,
      link: this.#link,
      answers: this.#answers,
      send: (text) => this.#send(text),
      signal: this.#gone.signal,
      services: this.#context.services,
    })
    return {
      session,
      signal: this.#gone.signal,
      answers: this.#answers,
      environmentInfo: this.#context.environmentInfo(),
      sandboxInfo: this.#context.sandboxInfo,
      endSession: () => this.#endSession(session),
      services,
    }
  }

  #writable(): void {
    this.#answers.writable()
    this.sink.writable()
    if (this.#handshake.state === 'ready') this.#handshake.call.services.writable()
  }

  #answerLater(id: IdText, answer: Promise<object | EncodedResult>, bytes: number): void {
    this.#calls++
    this.#callBytes += bytes
    const answered = () => {
      this.#calls--
      this.#callBytes -= bytes
    }
    answer.then(
      (result) => {
        answered()
        this.#sendResult(id, result)
      },
      (error) => {
        answered()
        this.#fail(id, error)
      },
    )
    this.#throttle()
  }

  #endSession(session: Session): void {
    this.#context.sessions.end(session)
    // After the answer, which is about to be sent.
    queueMicrotask(() => this.close(CloseCode.normal, 'the session has ended'))
  }

  #fail(id: IdText, error: unknown): void {
    const { code, message, data } = toWireError(error)
    this.#send(encodeError(id, code, message, data))
  }

  #sendResult(id: IdText, result: object | EncodedResult): void {
    let text: string | TextParts
    try {
      text = result instanceof EncodedResult ? result.answer(id) : encodeResult(id, result)
    } catch (error) {
      // There is more of it than a string can hold.
      this.#fail(id, error)
      return
    }
    this.#send(text)
  }

  #sendError(id: IdText, code: number, message: string): void {
    this.#send(encodeError(id, code, message))
  }

  #send(text: string | TextParts): void {
    if (this.#handshake.state === 'closed') return
    this.#link.send(text)
    this.#throttle()
  }

  /** As much of what it asked for is being done as can be at a time. */
  get #isBusy(): boolean {
    return this.#calls >= MAX_CALLS || this.#callBytes >= MAX_CALL_BYTES
  }

  /** Bounds what a client can make us hold for it: answers that it does not read, and calls that wait. */
  #throttle(): void {
    this.#answers.writable()
    // A client that does not read its answers is not read from either.
    const pause = this.#answers.full || this.#isBusy
    if (pause === this.#readingPaused) return
    this.#readingPaused = pause
    if (pause) this.#wire.pauseReading()
    else this.#wire.resumeReading()
  }

  #violation(reason: string): void {
    this.close(CloseCode.protocolError, reason)
  }
}
