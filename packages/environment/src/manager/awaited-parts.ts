import type { Environment } from '../environment.ts'
import type { FileSystem } from '../file-system.ts'
import type { HttpClient } from '../http-client.ts'
import type { Processes } from '../processes.ts'

/** The environment once it is there. Any of the signals gives up the wait. */
export type Arrival = (signals: readonly (AbortSignal | null | undefined)[]) => Promise<Environment>

export function awaitedProcesses(arrival: Arrival): Processes {
  const there = async (options: { signal?: AbortSignal | undefined } | undefined) =>
    (await arrival([options?.signal])).processes
  return {
    start: async (argv, options) => (await there(options)).start(argv, options),
    list: async (options) => (await there(options)).list(options),
  }
}

export function awaitedHttp(arrival: Arrival): HttpClient {
  return {
    request: async (url, options) => (await arrival([options?.signal])).http.request(url, options),
    fetch: async (input, init) => {
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined)
      return (await arrival([signal])).http.fetch(input, init)
    },
  }
}

export function awaitedFiles(arrival: Arrival): FileSystem {
  const there = async (options: { signal?: AbortSignal | undefined } | undefined) =>
    (await arrival([options?.signal])).files
  return {
    readFile: async (path, options) => (await there(options)).readFile(path, options),
    readText: async (path, options) => (await there(options)).readText(path, options),
    writeFile: async (path, data, options) => (await there(options)).writeFile(path, data, options),
    readStream: (path, options) =>
      awaitedReadable(async (signal) => (await arrival([options?.signal, signal])).files.readStream(path, options)),
    writeStream: (path, options) =>
      awaitedWritable(async (signal) => (await arrival([options?.signal, signal])).files.writeStream(path, options)),
    append: async (path, data, options) => (await there(options)).append(path, data, options),
    metadata: async (path, options) => (await there(options)).metadata(path, options),
    exists: async (path, options) => (await there(options)).exists(path, options),
    setMode: async (path, mode, options) => (await there(options)).setMode(path, mode, options),
    canonicalize: async (path, options) => (await there(options)).canonicalize(path, options),
    createDirectory: async (path, options) => (await there(options)).createDirectory(path, options),
    readDirectory: async (path, options) => (await there(options)).readDirectory(path, options),
    walk: async (path, options) => (await there(options)).walk(path, options),
    remove: async (path, options) => (await there(options)).remove(path, options),
    copy: async (source, target, options) => (await there(options)).copy(source, target, options),
    rename: async (source, target, options) => (await there(options)).rename(source, target, options),
    glob: async (path, options) => (await there(options)).glob(path, options),
    grep: async (path, pattern, options) => (await there(options)).grep(path, pattern, options),
    async *watch(path, options) {
      yield* (await there(options)).watch(path, options)
    },
  }
}

type Open<T> = (signal: AbortSignal) => Promise<T>

/** Opened by the first read. Cancelled before there is something to read, it gives up the wait. */
function awaitedReadable(open: Open<ReadableStream<Uint8Array>>): ReadableStream<Uint8Array> {
  const cancelled = new AbortController()
  const openReader = async () => (await open(cancelled.signal)).getReader()
  let reader: Awaited<ReturnType<typeof openReader>> | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        reader ??= await openReader()
        const { done, value } = await reader.read()
        if (cancelled.signal.aborted) return
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) {
        cancelled.abort(reason)
        await reader?.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Opened by the first write. Aborted before there is something to write to, it gives up the wait. */
function awaitedWritable(open: Open<WritableStream<Uint8Array>>): WritableStream<Uint8Array> {
  let aborted: AbortSignal
  const openWriter = async () => (await open(aborted)).getWriter()
  let writer: Awaited<ReturnType<typeof openWriter>> | undefined
  return new WritableStream<Uint8Array>({
    start(controller) {
      // All runtimes have it, not all their types do.
      aborted = (controller as WritableStreamDefaultController & { readonly signal: AbortSignal }).signal
    },
    async write(chunk) {
      writer ??= await openWriter()
      await writer.write(chunk)
    },
    async close() {
      writer ??= await openWriter()
      await writer.close()
    },
    async abort(reason) {
      await writer?.abort(reason)
    },
  })
}
