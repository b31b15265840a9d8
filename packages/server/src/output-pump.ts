import type { LogCursor, LogEvent, OutputLog } from '@waldo/local'
import { encodeNotification } from '@waldo/rpc'
import { textWithBase64 } from './base64-text.ts'
import type { Link } from './link.ts'
import { sandboxVerdict } from './read-output.ts'
import type { TextParts } from './wire.ts'

/** A process that is no further behind than this is being typed at, or says little: it goes first. */
const INTERACTIVE_BYTES = 4 * 1024
/** As long as the system has not taken more than this of what was sent, small things may still be added. */
const INTERACTIVE_QUEUE_BYTES = 64 * 1024
/** Sent in one go before anybody else on this server gets a turn. */
const TURN_BYTES = 256 * 1024
/** A client that comes back reads what it missed first; what is new waits for that, but not for ever. */
const HOLD_MS = 250

interface Follower {
  readonly processId: string
  readonly log: OutputLog
  readonly cursor: LogCursor
  readonly stop: () => void
  /** Not sent before this time. */
  heldUntil: number
  /** In the queue of those that have something to send. */
  queued: boolean
  /** Reading from disk. */
  fetching: boolean
}

/**
 * Sends the output of a session's processes over one connection. Each process has a cursor on its log; cursors take
 * turns, and only as much goes out as the reader takes. Nothing is queued here: what is not sent yet is in the log.
 */
export class OutputPump {
  readonly #link: Link
  readonly #followers = new Map<string, Follower>()
  /** Those with something to send, in the order of their turns. */
  #ready: Follower[] = []
  #scheduled: 'no' | 'soon' | 'next turn' = 'no'
  #closed = false

  constructor(link: Link) {
    this.#link = link
  }

  /** Sends what the process says from `seq` on. */
  follow(processId: string, log: OutputLog, seq: number, { hold = false } = {}): void {
    // The client may be gone before its session has been found.
    if (this.#closed) return
    this.unfollow(processId)
    const cursor = log.cursor(seq - 1)
    const follower: Follower = {
      processId,
      log,
      cursor,
      stop: log.onEvent(() => this.#wake(follower)),
      heldUntil: 0,
      queued: false,
      fetching: false,
    }
    this.#followers.set(processId, follower)
    log.follow(cursor)
    if (hold) {
      follower.heldUntil = performance.now() + HOLD_MS
      setTimeout(() => this.#release(follower), HOLD_MS).unref()
    }
    this.#wake(follower)
  }

  unfollow(processId: string): void {
    const follower = this.#followers.get(processId)
    if (!follower) return
    this.#followers.delete(processId)
    follower.stop()
    follower.log.unfollow(follower.cursor)
    this.#ready = this.#ready.filter((other) => other !== follower)
  }

  /** The client has read up to `nextSeq` itself: go on from there if we are not further already. */
  continueFrom(processId: string, nextSeq: number): void {
    const follower = this.#followers.get(processId)
    if (!follower) return
    if (follower.heldUntil > 0 && follower.cursor.seq < nextSeq) follower.cursor.seek(nextSeq)
    this.#release(follower)
  }

  /** The client was given only what comes before `seq`, though there is more: send the rest. */
  rewind(processId: string, log: OutputLog, seq: number): void {
    const follower = this.#followers.get(processId)
    if (!follower) this.follow(processId, log, seq)
    else if (follower.cursor.seq > seq) {
      follower.cursor.seek(seq)
      this.#wake(follower)
    }
  }

  /** There is room on the wire again. */
  writable(): void {
    if (this.#ready.length > 0) this.#run()
  }

  close(): void {
    this.#closed = true
    for (const processId of [...this.#followers.keys()]) this.unfollow(processId)
  }

  #release(follower: Follower): void {
    follower.heldUntil = 0
    this.#wake(follower)
  }

  #wake(follower: Follower): void {
    if (follower.heldUntil > 0 || follower.fetching || this.#closed) return
    // Of a process that nobody wants to hear of any more; another may have its id by now.
    if (this.#followers.get(follower.processId) !== follower) return
    if (!follower.queued) {
      if (follower.cursor.seq >= follower.log.nextSeq) return
      follower.queued = true
      this.#ready.push(follower)
    }
    // What is small goes out before anything else happens. Bulk waits for the end of this turn of the event loop, in
    // which more of it may arrive to go in the same message.
    this.#schedule(follower.cursor.backlogBytes <= INTERACTIVE_BYTES ? 'soon' : 'next turn')
  }

  #schedule(when: 'soon' | 'next turn'): void {
    if (this.#scheduled === when || this.#scheduled === 'soon') return
    if (when === 'soon') queueMicrotask(() => this.#run())
    else if (this.#scheduled === 'no') setImmediate(() => this.#run())
    this.#scheduled = when
  }

  #run(): void {
    this.#scheduled = 'no'
    if (this.#closed) return
    this.#link.batch(() => {
      this.#sendInteractive()
      this.#sendBulk()
    })
    // Whoever is still ready waits for the wire, or for the others on this server to have their turn.
    if (this.#ready.length > 0 && this.#link.hasRoom) this.#schedule('next turn')
  }

  #sendInteractive(): void {
    const ready = this.#ready
    this.#ready = []
    for (const follower of ready) {
      while (follower.cursor.backlogBytes <= INTERACTIVE_BYTES && this.#link.queuedBytes < INTERACTIVE_QUEUE_BYTES) {
        if (!this.#sendNext(follower)) break
      }
      if (this.#hasMore(follower)) this.#ready.push(follower)
    }
  }

  #sendBulk(): void {
    let sent = 0
    while (this.#ready.length > 0 && sent < TURN_BYTES && this.#link.hasRoom) {
      const follower = this.#ready.shift()!
      sent += this.#sendNext(follower)
      if (this.#hasMore(follower)) this.#ready.push(follower)
    }
  }

  /** Whether it keeps its place in the queue. */
  #hasMore(follower: Follower): boolean {
    follower.queued = !follower.fetching && follower.cursor.seq < follower.log.nextSeq
    return follower.queued && this.#followers.get(follower.processId) === follower
  }

  /** Returns how much was sent; nothing if there is nothing, or if it has to be read from disk first. */
  #sendNext(follower: Follower): number {
    const event = follower.cursor.peek()
    if (event === undefined) return 0
    if (event instanceof Promise) {
      follower.fetching = true
      void event.then(() => {
        follower.fetching = false
        this.#wake(follower)
      })
      return 0
    }
    const text = encode(follower, event)
    follower.cursor.advance(event)
    this.#link.send(text)
    if (event.kind === 'closed') this.unfollow(follower.processId)
    return text.length
  }
}

/** By hand: `JSON.stringify` would look at every character of the base64 text to see whether it must be escaped. */
function encode({ processId, log }: Follower, { seq, kind, data, droppedBytes }: LogEvent): string | TextParts {
  const id = JSON.stringify(processId)
  switch (kind) {
    case 'exited':
      return encodeNotification('process/exited', {
        processId,
        seq,
        exitCode: log.exit!.code,
        ...sandboxVerdict(log.exit),
      })
    case 'closed':
      return `{"method":"process/closed","params":{"processId":${id},"seq":${seq}}}`
    default: {
      const dropped = droppedBytes > 0 ? `,"droppedBytes":${droppedBytes}` : ''
      const before = `{"method":"process/output","params":{"processId":${id},"seq":${seq},"stream":"${kind}","chunk":"`
      // An event is shorter than a part: it is encoded now, and the log may do with it what it likes.
      return textWithBase64(before, data, `"${dropped}}}`)
    }
  }
}
