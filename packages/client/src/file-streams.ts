import { type CallOptions, ExecError } from '@waldo/environment'
import { decodeBase64, type FsMetadata, type FsReadBlockResult, limits, type PathUri } from '@waldo/protocol'
import { encodeBase64 } from './encode-base64.ts'
import type { ExecSession } from './exec-session.ts'

/** Blocks that are asked for before the first of them has come. */
const AHEAD = 4

interface Target {
  readonly path: PathUri
}

/** A file, block by block, as fast as it is read. After a cut it goes on, unless the file has changed meanwhile. */
export function readStream(session: ExecSession, target: Target, { signal }: CallOptions): ReadableStream<Uint8Array> {
  const blocks = readBlocks(session, target, signal)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await blocks.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await blocks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

async function* readBlocks(session: ExecSession, target: Target, signal: AbortSignal | undefined) {
  let offset = 0
  let before: FsMetadata | undefined
  for (;;) {
    const handleId = newHandle()
    try {
      await session.call('fs/open', { ...target, handleId, mode: 'read' }, { signal })
      const now = (await session.call('fs/getMetadata', target, { signal })) as FsMetadata
      if (before && !sameFile(before, now)) {
        throw new ExecError('FILE_FAILED', `${target.path} changed while the connection was lost`)
      }
      before = now
      for await (const block of blocksFrom(session, handleId, offset, signal)) {
        offset += block.length
        yield block
      }
      return
    } catch (error) {
      // The handle went with its connection. The place in the file did not.
      if (!ExecError.is(error, 'DISCONNECTED') || signal?.aborted) throw error
    } finally {
      void session.call('fs/close', { handleId }).catch(() => {})
    }
  }
}

async function* blocksFrom(session: ExecSession, handleId: string, start: number, signal: AbortSignal | undefined) {
  const len = limits.fileBlockBytes
  const ask = (offset: number) => {
    const block = session.call('fs/readBlock', { handleId, offset, len }, { signal }) as Promise<FsReadBlockResult>
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
  const close = () => session.call('fs/close', { handleId }, { signal })
  return new WritableStream<Uint8Array>({
    async start() {
      const { info } = await session.live({ signal })
      if (!info.capabilities?.fileWriteStreaming) {
        throw new ExecError('UNSUPPORTED', 'this executor cannot write files piece by piece')
      }
      await session.call('fs/open', { ...target, handleId, mode: 'replace' }, { signal })
    },
    async write(data) {
      for (let at = 0; at < data.length; at += limits.fileBlockBytes) {
        const piece = data.subarray(at, at + limits.fileBlockBytes)
        await session.call('fs/writeBlock', { handleId, offset, chunk: encodeBase64(piece) }, { signal })
        offset += piece.length
      }
    },
    async close() {
      await close()
    },
    async abort() {
      // Reading from a handle that is for writing drops it, and what was written with it.
      await session.call('fs/readBlock', { handleId, offset: 0, len: 1 }).catch(() => {})
    },
  })
}

function newHandle(): string {
  return crypto.randomUUID().replaceAll('-', '')
}
