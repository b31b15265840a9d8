import type * as Files from '@waldo/local/files'
import type * as Search from '@waldo/local/search'
import {
  type DecodeError,
  decodeBase64,
  ErrorCode,
  fromPosixPath,
  limits,
  type Method,
  type Params,
  type PathUri,
  ProtocolError,
  type Result,
  toPosixPath,
} from '@waldo/protocol'
import { EncodedResult } from '../encoded-result.ts'
import type { LargeAnswers } from '../large-answers.ts'

/** What these methods need of whoever called. */
export interface FileContext {
  readonly files: typeof Files
  readonly handles: Files.FileHandles
  readonly search: () => typeof Search
  readonly signal: AbortSignal
  readonly answers: Pick<LargeAnswers, 'within'>
  readonly isSlow: (path: Files.NativePath) => boolean
  /** Throw for what is in a directory and may not be touched with it. */
  readonly checks?: {
    readonly copy: (source: Files.NativePath, target: Files.NativePath) => void
    readonly remove: (path: Files.NativePath) => void
  }
}

export type FileMethod = Exclude<Extract<Method, `fs/${string}`>, `fs/${'watch' | 'unwatch' | 'watchMissing'}`>
type Answer<T> = T | EncodedResult | Promise<T | EncodedResult>
type FileMethods = { [M in FileMethod]: (params: Params<M>, context: FileContext) => Answer<Result<M>> }

const DONE = {}
/** What an answer with tens of thousands of names may take. */
const LISTING_BYTES = 16 * 1024 * 1024

/** Methods that look at files, or change them, and are done. They translate; `@waldo/local` does the work. */
export const fileMethods: FileMethods = {
  'fs/readFile': ({ path, followSymlinks }, { files, answers }) => {
    const file = native(path)
    const small = files.readSmallFile(file, { followSymlinks })
    if (small) return encodeFile(small)
    return answers.within(limits.messageBytes, async () => encodeFile(await files.readFile(file, { followSymlinks })))
  },
  'fs/writeFile': ({ path, dataBase64, followSymlinks }, { files }) => {
    const content = decodeContent('fs/writeFile', dataBase64)
    return done(files.writeFile(native(path), content, { followSymlinks }))
  },
  'fs/append': ({ path, dataBase64, followSymlinks }, { files }) => {
    const content = decodeContent('fs/append', dataBase64)
    return done(files.appendFile(native(path), content, { followSymlinks }))
  },
  'fs/createDirectory': ({ path, ...options }, { files }) => done(files.createDirectory(native(path), options)),
  'fs/getMetadata': ({ path, followSymlinks, withMode }, { files }) =>
    files.getMetadata(native(path), { followSymlinks, withMode }),
  'fs/setMode': ({ path, mode, followSymlinks }, { files }) =>
    done(files.setMode(native(path), mode, { followSymlinks })),
  'fs/canonicalize': ({ path }, { files }) => ({ path: fromPosixPath(files.canonicalize(native(path))) }),
  'fs/readDirectory': ({ path }, { files, answers, isSlow }) => {
    const directory = native(path)
    return answers.within(LISTING_BYTES, async () => {
      const entries = await files.readDirectory(directory, isSlow)
      return {
        entries: entries.map(({ name, isDirectory, isFile }) => {
          if (typeof name === 'string') return { fileName: name, isDirectory, isFile }
          const uri = fromPosixPath(files.joinName(directory, name))
          return { fileName: name.toString(), isDirectory, isFile, path: uri }
        }),
      }
    })
  },
  'fs/walk': ({ path, options }, { files, answers, isSlow }) =>
    answers.within(LISTING_BYTES, () => files.walk(native(path), options, isSlow)),
  'fs/remove': ({ path, ...options }, { files, checks }) =>
    done(files.remove(native(path), { ...options, check: checks?.remove })),
  'fs/copy': ({ sourcePath, destinationPath, recursive }, { files, checks }) =>
    done(files.copy(native(sourcePath), native(destinationPath), { recursive, check: checks?.copy })),
  'fs/rename': ({ sourcePath, destinationPath, overwrite }, { files }) =>
    done(files.rename(native(sourcePath), native(destinationPath), { overwrite })),
  'fs/open': ({ handleId, path, mode, createMode, followSymlinks }, { handles }) => {
    handles.open(handleId, native(path), mode, { createMode, followSymlinks })
    return { handleId }
  },
  'fs/readBlock': ({ handleId, offset, len }, { handles, answers }) => {
    const encode = (block: Uint8Array) => new EncodedResult('chunk', block, { eof: block.length < len })
    const read = () => {
      const block = handles.readBlock(handleId, offset, len)
      return block instanceof Promise ? block.then(encode) : encode(block)
    }
    return answers.within(2 * limits.fileBlockBytes, read)
  },
  'fs/writeBlock': ({ handleId, offset, chunk }, { handles }) => done(handles.writeBlock(handleId, offset, chunk)),
  'fs/close': ({ handleId }, { handles }) => done(handles.close(handleId)),
  'fs/glob': async ({ path, cursor, ...request }, { search, signal }) => {
    const found = await search().glob(
      { ...request, root: native(path), ...(cursor !== undefined && { cursor }) },
      signal,
    )
    return {
      ...found,
      matches: found.matches.map((match) => ({ ...match, path: fromPosixPath(match.path) })),
      errors: found.errors.map((error) => ({ ...error, path: fromPosixPath(error.path) })),
    }
  },
  'fs/grep': async ({ path, cursor, ...request }, { search, signal }) => {
    const scope = { ...request, root: native(path), ...(cursor !== undefined && { cursor }) }
    const found = await search().grep(scope, { ripgrep: Bun.which('rg') ?? undefined }, signal)
    return {
      ...found,
      files: found.files.map((file) => ({ ...file, path: fromPosixPath(file.path) })),
      errors: found.errors.map((error) => ({ ...error, path: fromPosixPath(error.path) })),
    }
  },
}

export function isFileMethod(method: string): method is FileMethod {
  return Object.hasOwn(fileMethods, method)
}

/** A path of this system. One of another parses, but there is nothing to be found under it. */
export function native(uri: PathUri): Files.NativePath {
  try {
    return toPosixPath(uri) as Files.NativePath
  } catch (error) {
    throw new ProtocolError(ErrorCode.invalidRequest, (error as DecodeError).message)
  }
}

function encodeFile(content: Uint8Array): EncodedResult {
  return new EncodedResult('dataBase64', content)
}

function decodeContent(method: string, dataBase64: string): Uint8Array {
  try {
    return decodeBase64(dataBase64)
  } catch (error) {
    const reason = (error as DecodeError).message
    throw new ProtocolError(ErrorCode.invalidRequest, `${method} requires valid base64 dataBase64: ${reason}`)
  }
}

function done(work: undefined | void | Promise<void>): Answer<Record<string, never>> {
  return work instanceof Promise ? work.then(() => DONE) : DONE
}
