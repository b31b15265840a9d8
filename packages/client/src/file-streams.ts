import { type CallOptions, ExecError } from '@waldo/environment'
import {
  decodeBase64,
  type EnvironmentInfo,
  type FsMetadata,
  type FsReadBlockResult,
  limits,
  type PathUri,
  type SandboxRequest,
} from '@waldo/protocol'
import { byteStream } from './byte-stream.ts'
import { encodeBase64 } from './encode-base64.ts'
import type { ExecSession } from './exec-session.ts'
import type { LiveConnection } from './live-connection.ts'

/** Blocks that are asked for before the first of them has come. */
const AHEAD = 4
/** Connections that may be lost without a single block in between. */
const MAX_CUTS = 10

interface Target {
  readonly path: PathUri
  readonly sandbox?: SandboxRequest | undefined
}

/** A file, block by block, as fast as it is read. After a cut it goes on, unless the file has changed meanwhile. */
export function readStream(session: ExecSession, target: Target, options: CallOptions): ReadableStream<Uint8Array> {
  return byteStream((signal) => readBlocks(session, target, signal), options.signal)
}

async function* readBlocks(session: ExecSession, target: Target, signal: AbortSignal) {
  let offset = 0
  let before: FsMetadata | undefined
  for (let cuts = 0; ; ) {
    const handleId = newHandle()
    // Handles belong to a connection; the place in the file does not.
    const connection = await session.live({ signal })
    requireSandbox(target, connection.info)
    const call = (method: string, params: object) => session.call(method, params, { signal, connection })
    try {
      await call('fs/open', { ...target, handleId, mode: 'read' })
      const now = (await call('fs/getMetadata', target)) as FsMetadata
      if (before && !sameFile(before, now)) {
        throw new ExecError('FILE_FAILED', `${target.path} changed while the connection was lost`)
      }
      before = now
      for await (const block of blocksFrom(call, handleId, offset)) {
        offset += block.length
        cuts = 0
        yield block
      }
      return
    } catch (error) {
      if (!ExecError.is(error, 'DISCONNECTED') || ++cuts > MAX_CUTS) throw error
    } finally {
      void session.call('fs/close', { handleId }, { connection }).catch(() => {})
    }
  }
}

async function* blocksFrom(
  call: (method: string, params: object) => Promise<unknown>,
  handleId: string,
  start: number,
): AsyncGenerator<Uint8Array> {
  const len = limits.fileBlockBytes
  const ask = (offset: number) => {
    const block = call('fs/readBlock', { handleId, offset, len }) as Promise<FsReadBlockResult>
    block.catch(() => {}) // It is waited for in its turn, or not at all.
    return block
  }
  const asked = Array.from({ length: AHEAD }, (_, index) => ask(start + index * len))
  for (let next = start + AHEAD * len; ; next += len) {
    const { chunk, eof } = await asked.shift()!
    const block = decodeBase64(chunk)
    if (block.length > 0) yield block
    // A short block that is not the end would leave a hole before the next one.
    if (eof || block.length < len) return
    asked.push(ask(next))
  }
}

function sameFile(a: FsMetadata, b: FsMetadata): boolean {
  return a.size === b.size && a.modifiedAtMs === b.modifiedAtMs
}

/** Takes effect when it is closed. Aborted, or cut off, it leaves what was there. */
export function writeStream(session: ExecSession, target: Target, { signal }: CallOptions): WritableStream<Uint8Array> {
  const handleId = newHandle()
  let offset = 0
  // Always the one on which it was opened: on any other the handle is unknown, and closing it would seem to succeed.
  let connection: LiveConnection | undefined
  const call = (method: string, params: object) => session.call(method, { handleId, ...params }, { signal, connection })
  return new WritableStream<Uint8Array>({
    async start() {
      connection = await session.live({ signal })
      if (!connection.info.capabilities?.fileWriteStreaming) {
        throw new ExecError('UNSUPPORTED', 'this executor cannot write files piece by piece')
      }
      requireSandbox(target, connection.info)
      await call('fs/open', { ...target, mode: 'replace' })
    },
    async write(data) {
      for (let at = 0; at < data.length; at += limits.fileBlockBytes) {
        const piece = data.subarray(at, at + limits.fileBlockBytes)
        await call('fs/writeBlock', { offset, chunk: encodeBase64(piece) })
        offset += piece.length
      }
    },
    async close() {
      await call('fs/close', {})
    },
    async abort() {
      // Reading from a handle that is for writing drops it, and what was written with it. It fails, as it should.
      await session.call('fs/readBlock', { handleId, offset: 0, len: 1 }, { connection }).catch(() => {})
    },
  })
}

/** Some executors obey a sandbox for whole files only. */
function requireSandbox({ sandbox }: Target, { capabilities }: EnvironmentInfo): void {
  if (!sandbox || capabilities?.sandboxedFileStreaming) return
  throw new ExecError('UNSUPPORTED', 'this executor cannot stream files in a sandbox; read or write them whole')
}

function newHandle(): string {
  return crypto.randomUUID().replaceAll('-', '')
}
