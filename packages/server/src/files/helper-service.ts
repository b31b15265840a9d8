import type * as Files from '@waldo/local/files'
import { DecodeError, methods, type Params } from '@waldo/protocol'
import { FileRules } from '@waldo/sandbox'
import { EncodedResult } from '../encoded-result.ts'
import { toWireError } from '../wire-error.ts'
import { payloadMember } from './file-helper.ts'
import { type FileContext, type FileMethod, fileMethods, isFileMethod } from './file-methods.ts'
import { GuardedFiles } from './guarded-files.ts'
import { HelperChannel } from './helper-channel.ts'
import type { Frame } from './helper-frames.ts'

const STDIN = 0

interface Request {
  readonly id: number
  readonly channel: number
  readonly method: string
  readonly params: Record<string, unknown>
  /** For how large an answer there is room. */
  readonly room: number
}

/** The answer would be larger than there is room for. */
class NeedsRoom extends Error {
  readonly bytes: number

  constructor(bytes: number) {
    super(`an answer of up to ${bytes} bytes`)
    this.bytes = bytes
  }
}

type Handler = (params: Params<FileMethod>, context: FileContext) => unknown

/** The other end of a `FileHelper`: does what it is told on the socket that is its standard input, until that ends. */
export async function serveFileHelper(): Promise<void> {
  const ended = Promise.withResolvers<unknown>()
  const service: HelperService = new HelperService(
    new HelperChannel(STDIN, { receive: (frame) => service.receive(frame), ended: ended.resolve }),
  )
  const cause = await ended.promise
  service.close()
  if (cause) throw cause
}

class HelperService {
  readonly #files = require('@waldo/local/files') as typeof Files
  readonly #channels = new Map<number, FileContext>()
  readonly #channel: HelperChannel
  #guard: GuardedFiles | undefined

  constructor(channel: HelperChannel) {
    this.#channel = channel
  }

  receive({ message, payload }: Frame): void {
    const { rules, ended } = message as { rules?: object | null; ended?: number }
    if (rules !== undefined) this.#guard = rules === null ? undefined : new GuardedFiles(FileRules.fromJSON(rules))
    else if (ended !== undefined) this.#end(ended)
    else void this.#answer(message as Request, payload)
  }

  close(): void {
    for (const channel of [...this.#channels.keys()]) this.#end(channel)
    this.#channel.unref()
  }

  #end(channel: number): void {
    this.#channels.get(channel)?.handles.closeAll()
    this.#channels.delete(channel)
  }

  async #answer({ id, channel, method, params, room }: Request, payload: Uint8Array): Promise<void> {
    try {
      if (!isFileMethod(method)) throw new DecodeError(`a helper has no method ${method}`)
      const text = payload.length > 0 ? Buffer.from(payload.buffer, payload.byteOffset, payload.length) : undefined
      const whole = text ? { ...params, [payloadMember(method)]: text.toString('latin1') } : params
      const decoded = methods[method].params(whole) as Params<FileMethod>
      const context = { ...this.#contextOf(channel), answers: answersWithin(room) }
      const handler = fileMethods[method] as Handler
      const result = await (this.#guard
        ? this.#guard.call(method, decoded, (safe, checks) => handler(safe, { ...context, ...checks }))
        : handler(decoded, context))
      if (result instanceof EncodedResult) {
        this.#channel.send({ id, result: result.rest, bytes: result.member }, result.bytes)
      } else this.#channel.send({ id, result })
    } catch (error) {
      if (error instanceof NeedsRoom) return this.#channel.send({ id, needs: error.bytes })
      const { code, message } = toWireError(error)
      this.#channel.send({ id, error: { code, message } })
    }
  }

  #contextOf(channel: number): FileContext {
    let context = this.#channels.get(channel)
    if (!context) {
      context = {
        files: this.#files,
        handles: new this.#files.FileHandles(),
        search: () => require('@waldo/local/search') as typeof import('@waldo/local/search'),
        // Whoever does not want the answer any more ends the whole process.
        signal: new AbortController().signal,
        answers: answersWithin(0),
        isSlow: () => false,
      }
      this.#channels.set(channel, context)
    }
    return context
  }
}

function answersWithin(room: number): FileContext['answers'] {
  return {
    within: (bytes, make) => {
      if (bytes > room) throw new NeedsRoom(bytes)
      return make()
    },
  }
}
