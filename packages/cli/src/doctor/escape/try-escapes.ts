import { UsageError } from '../../usage-error.ts'
import type { AttemptResult } from '../report.ts'
import { ATTEMPTS, type Attempt, PATH } from './attempts.ts'
import type { Shell } from './sandboxed-shell.ts'
import { Scene } from './scene.ts'

export interface EscapeOptions {
  readonly shell: Shell
  /** Of the executor. */
  readonly stateDir: string
  readonly signal: AbortSignal
}

type Verdict = Omit<AttemptResult, 'attempt'>

/** One after the other. Whenever it ends, nothing of it is left. */
export async function* tryEscapes(options: EscapeOptions): AsyncGenerator<AttemptResult> {
  for (const attempt of ATTEMPTS) yield await tryEscape(attempt, options)
}

export async function tryEscape({ title, ways }: Attempt, options: EscapeOptions): Promise<AttemptResult> {
  const possible = ways.filter(({ needs }) => needs === undefined || Bun.which(needs, { PATH }) !== null)
  if (possible.length === 0) {
    const missing = [...new Set(ways.flatMap(({ needs }) => needs ?? []))]
    return { attempt: title, outcome: 'skipped', detail: `no ${missing.join(', ')}` }
  }
  try {
    return { attempt: title, ...(await tryWays(possible, options)) }
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof UsageError) throw error
    return { attempt: title, outcome: 'failed', detail: (error as Error).message }
  }
}

async function tryWays(ways: Attempt['ways'], { shell, stateDir, signal }: EscapeOptions): Promise<Verdict> {
  await using scene = await Scene.open(stateDir)
  const { ran, stdout, complaint } = await shell.run(scriptOf(ways), scene, signal)
  const traces = await scene.traces()
  if (traces.length > 0) return { outcome: 'escaped', detail: traces.join(', ') }
  if (stdout.includes(THROUGH)) return { outcome: 'escaped', detail: 'the command says that it did' }
  if (!ran || !stdout.includes(WORKS)) return { outcome: 'failed', detail: complaint }
  return { outcome: 'held' }
}

const WORKS = 'doctor-works'
const THROUGH = 'doctor-through'

/**
 * What is allowed comes first: a sandbox in which nothing works is not one from which nothing escapes. Where the
 * variables are not what they should be, nothing is tried, for nobody knows what it would be tried on.
 */
function scriptOf(ways: Attempt['ways']): string {
  const attempts = ways.map(({ script }) => `( ${script} ) > /dev/null 2>&1 && echo ${THROUGH}`)
  return [
    'set -u',
    'cd "$WORKSPACE" && [ "$(cat "$OUTSIDE/kept")" = kept ] && echo x > allowed || exit',
    `echo ${WORKS}`,
    ...attempts,
    'exit 0',
  ].join('\n')
}
