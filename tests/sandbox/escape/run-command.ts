import { freemem } from 'node:os'
import { CallError } from '@waldo/testkit'
import { type Attempt, NotApplicable, type Outcome } from './attempt.ts'
import { judgeOutput } from './expectations.ts'
import { guard, readGuarded } from './guarded-command.ts'

/** For a fork bomb that nothing holds back. */
const MEMORY_NEEDED = 6e9
const REFUSED = -32602

/** Runs the command of a probe. `more` are members of `process/start`. */
export async function runCommand(attempt: Attempt, more: Record<string, unknown>): Promise<Outcome> {
  const { probe, connection } = attempt
  let id: string
  try {
    id = await start(attempt, more)
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const said = `${error.code} ${error.message}`
    const expected = probe.expect.refused !== undefined && error.code === REFUSED
    return { reasons: expected ? [] : [`it could not be started: ${said}`], said }
  }
  try {
    await talk(attempt, id)
    await connection.ended(id)
  } finally {
    await connection.terminate(id)
  }
  return judge(attempt, id)
}

function start(attempt: Attempt, more: Record<string, unknown>): Promise<string> {
  const { probe, bench, surroundings, connection } = attempt
  return connection.start(guard(probe, attempt.fill(probe.command!), bench.server.pid), {
    ...bench.commandDefaults(surroundings),
    tty: probe.tty ?? false,
    pipeStdin: probe.stdin !== undefined,
    ...more,
    ...limitsOf(attempt),
    ...attempt.sandbox(),
  })
}

async function talk({ probe, connection }: Attempt, processId: string): Promise<void> {
  const { raw } = connection
  if (probe.stdin !== undefined) {
    await raw.write(processId, probe.stdin)
    const { error } = await connection.call('process/closeStdin', { processId })
    if (error) throw new NotApplicable(`standard input cannot be closed: ${error.message}`)
  }
  for (const [cue, input] of Object.entries(probe.send_after ?? {})) {
    await raw.untilOutput(processId, cue)
    await raw.write(processId, input)
  }
}

function judge({ probe, connection }: Attempt, processId: string): Outcome {
  const seen = connection.raw.observed(processId)
  const { ran, unconfined, withoutProxy, output } = readGuarded(`${seen.stdout}${seen.pty}`)
  const reasons: string[] = []
  if (probe.expect.refused === true) reasons.push('it was started')
  if (withoutProxy) reasons.push('it was given no proxy')
  if (unconfined) reasons.push('it was not tried: it shares namespaces with the host, and would have harmed it')
  else if (!ran) reasons.push(`nothing ran in the sandbox (exit code ${seen.exitCode})`)
  else reasons.push(...judgeOutput(probe.expect, output, seen))
  return { reasons, said: `${output}${seen.stderr}` }
}

function limitsOf({ probe, connection }: Attempt): Record<string, unknown> {
  if (probe.severity !== 'limits') return {}
  if (!Object.keys(connection.capabilities).some((name) => /limits$/i.test(name))) {
    throw new NotApplicable('the server announces no limits')
  }
  if (freemem() < MEMORY_NEEDED) throw new NotApplicable('this machine has too little free memory to try it safely')
  const { memoryMaxBytes, ...limits } = probe.limits ?? { processes: 200 }
  return { limits: { ...limits, ...(memoryMaxBytes === undefined ? {} : { memoryBytes: memoryMaxBytes }) } }
}
