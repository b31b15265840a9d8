import { readFileSync } from 'node:fs'

/** Whatever a vector holds: the runner gives it meaning. */
export type Json = ReturnType<typeof JSON.parse>

/** A recorded exchange: what to send, and what has to come back. */
export interface Vector {
  readonly name: string
  readonly transport: 'ws' | 'stdio' | 'http' | 'cli'
  readonly send: Json[]
  readonly expect: Json[]
  readonly setup?: { dir?: string; file?: string; text?: string; symlink?: string; target?: string }[]
  readonly serverArgs?: string[]
  /** Whether the runner shakes hands first; the default. */
  readonly handshake?: boolean
  /** Whether messages are compared one by one, instead of what each process said as a whole. */
  readonly exact?: boolean
  readonly leaveRunning?: boolean
  readonly expectExit?: boolean
  readonly rawWaitMs?: number
  readonly settleMs?: number
  readonly timeoutMs?: number
}

export function readVectors(path: string): Vector[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Vector)
}

/** Fills `${NAME}` and `{{NAME}}` in. */
export function fill(value: Json, names: Readonly<Record<string, string>>): Json {
  if (typeof value === 'string') {
    return value.replace(/\$\{(\w+)\}|\{\{(\w+)\}\}/g, (whole, a, b) => names[a ?? b] ?? whole)
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, names))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [fill(key, names), fill(member, names)]))
}
