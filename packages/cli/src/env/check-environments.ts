import { type Environment, ExecError } from '@waldo/environment'
import type { EnvironmentInfo } from '@waldo/protocol'
import { type ChosenEnvironment, Environments } from '../environments.ts'
import { explain } from '../explain.ts'
import { print } from '../print.ts'

const ROUND_TRIPS = 5
const WIDTH = 100

interface Checked {
  readonly id: string
  readonly ok: true
  readonly latencyMs: number
  readonly executorVersion: string
  readonly platform: string
  readonly shell: EnvironmentInfo['shell']
  readonly cwd: string
  /** Whether it does something under restrictions, or refuses to. */
  readonly sandbox: 'available' | 'none'
  readonly capabilities: readonly string[]
}

interface Failed {
  readonly id: string
  readonly ok: false
  readonly error: string
  readonly hint: string
}

/** Connects to each, all at once, and says what it found. 1 if one of them cannot be used. */
export async function checkEnvironments(
  names: string[],
  options: { json: boolean; timeoutMs: number },
): Promise<number> {
  await using environments = await Environments.open()
  const wanted = names.length > 0 ? names : environments.ids
  // All names are looked up before anybody is bothered.
  const chosen = wanted.map((id) => ({ id, chosen: environments.choose(id) }))
  const results = await Promise.all(chosen.map((each) => check(each.id, each.chosen, options.timeoutMs)))
  if (options.json) print(JSON.stringify(results))
  else print(results.map((result) => describe(result)).join('\n'))
  return results.every(({ ok }) => ok) ? 0 : 1
}

async function check(id: string, { environment }: ChosenEnvironment, timeoutMs: number): Promise<Checked | Failed> {
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const info = await environment.info({ signal })
    const times: number[] = []
    for (let n = 0; n < ROUND_TRIPS; n++) {
      const start = performance.now()
      // The cheapest question that every executor answers.
      await environment.files.metadata(info.tempDir ?? '/', { signal })
      times.push(performance.now() - start)
    }
    const [median] = times.sort((a, b) => a - b).slice(ROUND_TRIPS >> 1)
    return {
      id,
      ok: true,
      latencyMs: Math.round(median! * 1000) / 1000,
      executorVersion: info.executorVersion,
      platform: info.platformOs,
      shell: info.shell,
      cwd: info.cwd,
      sandbox: await sandboxOf(environment, signal),
      capabilities: Object.entries(info.capabilities ?? {}).flatMap(([name, has]) => (has ? [name] : [])),
    }
  } catch (error) {
    if (signal.aborted) return { id, ok: false, error: `no answer within ${timeoutMs / 1000} s`, hint: '' }
    const { message, hint } = explain(error)
    return { id, ok: false, error: message, hint }
  }
}

/** Nobody says what it can enforce; but whoever cannot refuses. */
async function sandboxOf(environment: Environment, signal: AbortSignal): Promise<Checked['sandbox']> {
  const nothing = { type: 'managed', file_system: { type: 'restricted', entries: [] }, network: 'restricted' } as const
  const sandbox = { permissions: nothing, windowsSandboxLevel: 'disabled' } as const
  try {
    await environment.files.metadata('/', { sandbox, signal })
    return 'available'
  } catch (error) {
    if (!ExecError.is(error) || signal.aborted) throw error
    // What it does not let us see, it has hidden.
    return /cannot be enforced/.test(error.message) ? 'none' : 'available'
  }
}

function describe(result: Checked | Failed): string {
  if (!result.ok)
    return [`✗ ${result.id}`, `    ${result.error}`, ...(result.hint ? [`    ${result.hint}`] : [])].join('\n')
  const { id, latencyMs, executorVersion, platform, shell, cwd, sandbox, capabilities } = result
  const facts = [
    `round trip     ${latencyMs} ms`,
    `executor       ${executorVersion} on ${platform}`,
    `shell          ${shell.path}`,
    `directory      ${cwd}`,
    `sandbox        ${sandbox === 'none' ? 'none: what asks for one is refused' : sandbox}`,
    `capabilities   ${wrap(capabilities, WIDTH - 19).join(`\n${' '.repeat(19)}`) || 'none'}`,
  ]
  return [`✓ ${id}`, ...facts.map((fact) => `    ${fact}`)].join('\n')
}

function wrap(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
