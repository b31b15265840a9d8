import type { Json } from './vector.ts'

/** Something that happened on a connection. */
export interface Entry {
  readonly connection: string
  readonly message?: Json
  readonly closed?: true
}

const PROCESS_EVENTS = new Set(['process/output', 'process/exited', 'process/closed'])

/** How the two differ, in words; undefined if they agree. Error texts are ours to improve and not compared. */
export function compare(expected: Entry[], actual: Entry[], names: Record<string, string>): string | undefined {
  const want = lanes(expected)
  const have = lanes(actual)
  for (const [lane, entries] of want) {
    const got = have.get(lane) ?? []
    for (const [index, entry] of entries.entries()) {
      const other = got[index]
      if (!other) return `${lane}: missing ${JSON.stringify(entry.message)}`
      const difference = entry.closed ? undefined : match(entry.message, other.message, names, lane)
      if (difference) return difference
    }
    if (got.length > entries.length) return `${lane}: unexpected ${JSON.stringify(got[entries.length]!.message)}`
  }
  for (const [lane, [entry]] of have) if (!want.has(lane)) return `${lane}: unexpected ${JSON.stringify(entry)}`
  return undefined
}

/** Turns the events of each process into one record, because how output is cut into chunks is nobody's business. */
export function foldProcesses(entries: Entry[]): Entry[] {
  const rest: Entry[] = []
  const processes = new Map<string, { connection: string; id: string; events: Json[] }>()
  for (const entry of entries) {
    const { connection, message } = entry
    if (!PROCESS_EVENTS.has(message?.method)) {
      rest.push(entry)
      continue
    }
    const id = message.params.processId
    const key = `${connection} ${id}`
    const folded = processes.get(key) ?? { connection, id, events: [] as Json[] }
    processes.set(key, folded)
    folded.events.push(message)
  }
  for (const { connection, id, events } of processes.values()) rest.push({ connection, message: fold(id, events) })
  return rest
}

function fold(id: string, events: Json[]): Json {
  const sorted = events.toSorted((a, b) => a.params.seq - b.params.seq)
  const record: Json = { $process: id }
  for (const stream of ['stdout', 'stderr', 'pty']) {
    const chunks = sorted.filter(({ method, params }) => method === 'process/output' && params.stream === stream)
    const text = Buffer.concat(chunks.map(({ params }) => Buffer.from(params.chunk, 'base64'))).toString('latin1')
    if (text !== '') record[stream] = text
  }
  const exited = sorted.find(({ method }) => method === 'process/exited')
  const closed = sorted.find(({ method }) => method === 'process/closed')
  record.exitCode = exited?.params.exitCode ?? null
  if (exited) record.sandboxDenied = exited.params.sandboxDenied
  record.closed = closed !== undefined
  record.contiguousSeq = sorted.every(({ params }, index) => params.seq === sorted[0].params.seq + index)
  record.closedIsLast = !closed || closed === sorted.at(-1)
  return record
}

/** Replies, the events of each process, and the end of each connection keep their order among themselves. */
function lanes(entries: Entry[]): Map<string, Entry[]> {
  const result = new Map<string, Entry[]>()
  for (const entry of entries) {
    const lane = `${entry.connection} ${laneOf(entry)}`
    result.set(lane, [...(result.get(lane) ?? []), entry])
  }
  return result
}

function laneOf({ message, closed }: Entry): string {
  if (closed) return 'closed'
  if (message.$process !== undefined) return `process ${message.$process}`
  if (message.method?.startsWith('process/')) return `process ${message.params.processId}`
  return message.method ? `notification ${message.method}` : 'replies'
}

/** Text such as `<int>` in what is expected stands for whatever fits. */
export function match(expected: Json, actual: Json, names: Record<string, string>, where: string): string | undefined {
  const differs = `${where}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`
  if (typeof expected === 'string') {
    switch (expected) {
      case '<any>':
      case '<optional>':
        return undefined
      case '<headers>':
        return Array.isArray(actual) && actual.every(isHeader) ? undefined : differs
      case '<int>':
        return Number.isInteger(actual) ? undefined : differs
      case '<environmentInfo>':
        return typeof actual?.shell?.path === 'string' ? undefined : differs
      case '<sessionId>':
        if (typeof actual !== 'string' || actual === '') return differs
        names.sessionId ??= actual
        return undefined
      default:
        return expected === actual ? undefined : differs
    }
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return differs
    return first(expected.map((item, index) => () => match(item, actual[index], names, `${where}[${index}]`)))
  }
  if (typeof expected === 'object' && expected !== null) {
    if (typeof actual !== 'object' || actual === null) return differs
    const unexpected = Object.keys(actual).find((key) => !(key in expected))
    if (unexpected !== undefined) return `${where}: unexpected member ${unexpected}`
    return first(
      Object.keys(expected).map((key) => () => {
        if (where.endsWith('.error') && key === 'message') return undefined
        if (!(key in actual)) return expected[key] === '<optional>' ? undefined : `${where}.${key}: missing`
        return match(expected[key], actual[key], names, `${where}.${key}`)
      }),
    )
  }
  return Object.is(expected, actual) ? undefined : differs
}

function isHeader(header: Json): boolean {
  return typeof header?.name === 'string' && typeof header.value === 'string'
}

function first(checks: (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const difference = check()
    if (difference) return difference
  }
  return undefined
}
