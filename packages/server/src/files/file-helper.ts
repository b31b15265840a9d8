import { closeDescriptor, createSocketPair, type Guard } from '@waldo/local'
import { ErrorCode, limits, ProtocolError } from '@waldo/protocol'
import { EncodedResult } from '../encoded-result.ts'
import type { LargeAnswers } from '../large-answers.ts'
import type { FileMethod } from './file-methods.ts'
import { readAnswer } from './helper-answer.ts'
import { HelperChannel } from './helper-channel.ts'
import type { Frame } from './helper-frames.ts'

const MiB = 1024 * 1024
const GOODBYE_MS = 5000
/** What answers may take that are always large. */
const ROOM: Partial<Record<FileMethod, number>> = {
  'fs/readDirectory': 16 * MiB,
  'fs/walk': 16 * MiB,
  'fs/readBlock': 2 * MiB,
  // 4 MiB of text, escaped.
  'fs/glob': 16 * MiB,
  'fs/grep': 16 * MiB,
}
/** What any other answer may take: a small file, or an error. */
const SMALL_ANSWER_BYTES = MiB
/** Of what it says on standard error. */
const LAST_WORDS = 500

export interface HelperLaunch {
  readonly argv: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Calls `spawn` from where it has to be called, with what the helper gets as its descriptors from 3 on. */
  readonly start?: <T>(spawn: (descriptors: readonly number[]) => T) => T
  /** It runs. `kill` is to be called if it must not. */
  readonly begin?: (kill: () => void) => void
  /** Once it has ended. */
  readonly ended?: () => void
}

export interface HelperOptions {
  readonly launch: () => HelperLaunch
  /** Whoever sees to it that the process with this id does not outlive us. */
  readonly guard: (pid: number) => Guard
  /** What it is told first: the rules that it has to keep to. */
  readonly rules?: object
  /** How long a call may take before the whole process is given up; absent: it may hang as long as its file system does. */
  readonly patienceMs?: number
}

/** Who has to see to it that there is room for large answers. */
type Answers = Pick<LargeAnswers, 'within'>

export interface HelperCall {
  /** Handles belong to a channel, and end with it. */
  readonly channel: number
  readonly method: FileMethod
  /** As they came from the client. */
  readonly params: object
  readonly answers: Answers
}

type HelperProcess = Bun.Subprocess<number, number, 'pipe'>

interface Pending {
  readonly timer: ReturnType<typeof setTimeout> | undefined
  /** For how large an answer there is room. */
  readonly room: number
  readonly resolve: (result: object | EncodedResult) => void
  readonly reject: (error: Error) => void
  /** Asks again when there is room for so many bytes; undefined if that has been done. */
  readonly retry: ((bytes: number) => void) | undefined
}

/**
 * Another process of this program that only touches files. What may hang (a network file system), run away (a regular
 * expression) or may see only a part of the machine happens there: at worst, that process is lost.
 */
export class FileHelper {
  readonly #child: HelperProcess
  readonly #channel: HelperChannel
  readonly #pending = new Map<number, Pending>()
  /** Those of them for whose answers there is room. */
  #large = 0
  readonly #guard: Guard
  readonly #patienceMs: number | undefined
  #nextId = 1
  #alive = true
  #lastWords = ''
  /** Open in it, of all channels. */
  openHandles = 0
  readonly ended: Promise<void>

  constructor({ launch, guard, rules, patienceMs }: HelperOptions) {
    this.#patienceMs = patienceMs
    const { argv, env = process.env, start, begin, ended } = launch()
    const silence = Promise.withResolvers<unknown>()
    let channel: HelperChannel | undefined
    let child: HelperProcess | undefined
    try {
      const { ours, theirs } = createSocketPair()
      const spawn = (descriptors: readonly number[]) =>
        Bun.spawn([...argv], { stdio: [theirs, theirs, 'pipe', ...descriptors], cwd: '/', env, detached: true })
      try {
        channel = new HelperChannel(ours, {
          maxFrameBytes: () => answerBytes(this.#large),
          receive: (frame) => this.#receive(frame),
          ended: silence.resolve,
        })
        child = start ? start(spawn) : spawn([])
      } finally {
        closeDescriptor(theirs)
      }
      this.#guard = guard(child.pid)
    } catch (error) {
      channel?.close()
      child?.kill('SIGKILL')
      if (child) void child.exited.then(() => ended?.())
      else ended?.()
      throw error
    }
    this.#channel = channel
    this.#child = child
    begin?.(() => this.kill())
    void child.exited.then(() => {
      this.#guard.release()
      ended?.()
    })
    this.#channel.send({ rules: rules ?? null })
    this.ended = this.#seeToTheEnd(silence.promise)
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Calls that it has had. */
  get calls(): number {
    return this.#nextId - 1
  }

  /** Calls that have not been answered yet. */
  get busy(): number {
    return this.#pending.size
  }

  call(call: HelperCall): Promise<object | EncodedResult> {
    const room = ROOM[call.method] ?? 0
    const now = () => this.#ask(call, room, { again: false })
    return Promise.resolve(room === 0 ? now() : call.answers.within(room, now))
  }

  endChannel(channel: number): void {
    if (this.#alive) this.#channel.send({ ended: channel })
  }

  /** Lets it put its files in order first: what was not closed keeps its old content. */
  end(): void {
    this.#channel.leave()
    const timer = setTimeout(() => this.kill(), GOODBYE_MS)
    void this.ended.then(() => clearTimeout(timer))
  }

  /** What it has started goes with it. A process that hangs in the system goes when it comes back. */
  kill(): void {
    this.#guard.kill()
  }

  #ask(call: HelperCall, room: number, { again }: { again: boolean }): Promise<object | EncodedResult> {
    if (!this.#alive) return Promise.reject(this.#lost())
    const id = this.#nextId++
    const { channel, method, answers } = call
    const member = payloadMember(method)
    // What it may do was said when it was started.
    const { sandbox: _, [member]: text, ...rest } = call.params as Record<string, unknown>
    // Long text that nothing has to be escaped in, unless it is not what it should be.
    const isPayload = typeof text === 'string' && text !== '' && isLatin1(text)
    const params = isPayload || text === undefined ? rest : { ...rest, [member]: text }
    const timer = this.#patienceMs === undefined ? undefined : setTimeout(() => this.kill(), this.#patienceMs)
    return new Promise<object | EncodedResult>((resolve, reject) => {
      const retry = (bytes: number) => resolve(answers.within(bytes, () => this.#ask(call, bytes, { again: true })))
      this.#pending.set(id, { timer, room, resolve, reject, retry: again ? undefined : retry })
      if (room > 0) this.#large++
      this.#channel.send({ id, channel, method, room, params }, isPayload ? Buffer.from(text, 'latin1') : undefined)
    })
  }

  async #seeToTheEnd(silence: Promise<unknown>): Promise<void> {
    const lastWords = this.#hearLastWords()
    // If there is a cause, it does not speak our language; whoever waits for an answer is told.
    const cause = await silence
    this.#alive = false
    this.#channel.close()
    // It may have fallen silent without ending.
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.kill()
    await lastWords
    for (const { timer, reject } of this.#pending.values()) {
      clearTimeout(timer)
      reject(this.#lost(cause))
    }
    this.#pending.clear()
  }

  async #hearLastWords(): Promise<void> {
    try {
      for await (const bytes of this.#child.stderr) {
        this.#lastWords = `${this.#lastWords}${Buffer.from(bytes).toString()}`.slice(-LAST_WORDS)
      }
    } catch {
      // Then it has said nothing.
    }
  }

  #receive(frame: Frame): void {
    const { id, answer } = readAnswer(frame)
    const pending = this.#pending.get(id)
    if (!pending) throw new Error('an answer to nobody')
    if (frame.bytes > answerBytes(pending.room)) throw new Error(`an answer of ${frame.bytes} bytes`)
    if (answer.kind === 'needs' && (!pending.retry || answer.bytes <= pending.room)) {
      throw new Error('an answer that never comes')
    }
    this.#pending.delete(id)
    if (pending.room > 0) this.#large--
    clearTimeout(pending.timer)
    if (answer.kind === 'needs') pending.retry!(answer.bytes)
    else if (answer.kind === 'error') pending.reject(new ProtocolError(answer.code, answer.message))
    else if (answer.member === undefined) pending.resolve(answer.result)
    else pending.resolve(new EncodedResult(answer.member, frame.payload, answer.result))
  }

  #lost(cause?: unknown): ProtocolError {
    const reason = cause === undefined ? this.#lastWords.trim() : (cause as Error).message
    const because = reason === '' ? '' : ` (${reason})`
    return new ProtocolError(
      ErrorCode.internal,
      `the process that worked on these files has ended${because}; try again`,
    )
  }
}

/** How long listings are is known when they have been made: where there is room for one, it may take more. */
function answerBytes(room: number): number {
  return room === 0 ? SMALL_ANSWER_BYTES : limits.messageBytes
}

/** The member that is long, and travels beside the others. */
export function payloadMember(method: FileMethod): 'dataBase64' | 'chunk' {
  return method === 'fs/writeBlock' ? 'chunk' : 'dataBase64'
}

function isLatin1(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: every character of one byte.
  return !/[^\x00-\xff]/.test(text)
}
