import { oneLine } from './response-notes.ts'

/** What one call has to say: at its end, or about a process that goes on. */
export interface ExecResponse {
  /** A label, six hexadecimal digits. */
  readonly chunkId?: string | undefined
  readonly wallTimeMs: number
  /** Once it is known. */
  readonly exitCode?: number | undefined
  /** While there is something to write to or to wait for. */
  readonly sessionId?: number | undefined
  /** Of everything that was said since the last answer, shown or not. */
  readonly originalTokenCount?: number | undefined
  readonly output: string
  /** What else is true about it, one line each: see `response-notes.ts`. */
  readonly notes: readonly string[]
}

/** As a script gets it. */
export interface StructuredResponse {
  chunk_id?: string
  wall_time_seconds: number
  exit_code?: number
  session_id?: number
  original_token_count?: number
  notes?: string[]
  output: string
}

/** As a model reads it. */
export function formatResponse(response: ExecResponse): string {
  const { chunkId, wallTimeMs, exitCode, sessionId, originalTokenCount, output } = response
  const lines: string[] = []
  if (chunkId) lines.push(`Chunk ID: ${chunkId}`)
  lines.push(`Wall time: ${(wallTimeMs / 1000).toFixed(4)} seconds`)
  if (exitCode !== undefined) lines.push(`Process exited with code ${exitCode}`)
  if (sessionId !== undefined) lines.push(`Process running with session ID ${sessionId}`)
  lines.push(...response.notes.map(oneLine))
  if (originalTokenCount !== undefined) lines.push(`Original token count: ${originalTokenCount}`)
  lines.push('Output:', output)
  return lines.join('\n')
}

export function structuredResponse(response: ExecResponse): StructuredResponse {
  const { chunkId, wallTimeMs, exitCode, sessionId, originalTokenCount, notes, output } = response
  return {
    ...(chunkId && { chunk_id: chunkId }),
    wall_time_seconds: wallTimeMs / 1000,
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(originalTokenCount !== undefined && { original_token_count: originalTokenCount }),
    ...(notes.length > 0 && { notes: notes.map(oneLine) }),
    output,
  }
}

/** Six hexadecimal digits, new for each answer. */
export function newChunkId(): string {
  const [value] = crypto.getRandomValues(new Uint32Array(1))
  return (value! >>> 8).toString(16).padStart(6, '0')
}
