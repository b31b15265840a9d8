import type * as Files from '@waldo/local/files'
import { DecodeError, methods, type Params } from '@waldo/protocol'
import { FileRules } from '@waldo/sandbox'
import { EncodedResult } from '../encoded-result.ts'
import { toWireError } from '../wire-error.ts'
import { payloadMember } from './file-helper.ts'
import { type FileContext, type FileMethod, fileMethods, isFileMethod } from './file-methods.ts'
import { GuardedFiles } from './guarded-files.ts'
import { encodeFrame, type Frame, FrameSplitter } from './helper-frames.ts'

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

/** The other end of a `FileHelper`: does what it is told on standard input until that ends. */
export async function serveFileHelper(): Promise<void> {
  const service = new HelperService()
  const splitter = new FrameSplitter()
  for await (const bytes of Bun.stdin.stream()) for (const frame of splitter.push(bytes)) service.receive(frame)
  service.close()
}

class HelperService {
  readonly #files = require('@waldo/local/files') as typeof Files
  readonly #channels = new Map<number, FileContext>()
  readonly #output = Bun.stdout.writer()
  #guard: GuardedFiles | undefined

  receive({ message, payload }: Frame): void {
    const { rules, ended } = message as { rules?: object | null; ended?: number }
    if (rules !== undefined) this.#guard = rules === null ? undefined : new GuardedFiles(FileRules.fromJSON(rules))
    else if (ended !== undefined) this.#end(ended)
    else void this.#answer(message as Request, payload)
  }

  close(): void {
    for (const channel of [...this.#channels.keys()]) this.#end(channel)
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
        this.#send({ id, result: result.rest, bytes: result.member }, result.bytes)
      } else this.#send({ id, result })
    } catch (error) {
      if (error instanceof NeedsRoom) return this.#send({ id, needs: error.bytes })
      const { code, message } = toWireError(error)
      this.#send({ id, error: { code, message } })
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

  #send(message: object, payload?: Uint8Array): void {
    for (const part of encodeFrame(message, payload)) void this.#output.write(part)
    // The server has gone if this fails, and so will we.
    void Promise.resolve(this.#output.flush()).catch(() => {})
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
