import { eventually } from '@waldo/testkit'
import { Attempt, type Outcome } from './attempt.ts'
import type { Bench } from './bench.ts'
import { callSteps } from './call-steps.ts'
import { judgeHost } from './expectations.ts'
import type { HostState } from './host-state.ts'
import type { Probe } from './probe.ts'
import { processesRunning } from './processes.ts'
import { runCommand } from './run-command.ts'
import { HIDDEN_TEXT, managedNetwork } from './sandbox-context.ts'

/** What the server may still do after it has reported a command closed: remove mount points, reap. */
const SETTLE_MS = 1_000

/** One probe, in fresh surroundings for each way to run it. */
export async function runProbe(probe: Probe, bench: Bench, hostState: HostState): Promise<Outcome> {
  const reasons = new Set<string>()
  let said = ''
  for (const members of variantsOf(probe)) {
    const outcome = await runOnce(probe, members, bench)
    said += outcome.said
    for (const reason of [...outcome.reasons, ...hostState.restore()]) reasons.add(reason)
  }
  return { reasons: [...reasons], said }
}

/**
 * Members of `process/start`. The origin is on the loopback interface, so that local addresses have to be allowed to reach
 * it at all. What is to be blocked has to be blocked with that permission and without it.
 */
function variantsOf(probe: Probe): Record<string, unknown>[] {
  if (probe.profile !== 'proxy') return [{}]
  const permissions = mayReachOrigin(probe) ? [true] : [true, false]
  return permissions.map((allowLocalBinding) =>
    managedNetwork({ domains: { 'allowed.test': 'allow' }, allowLocalBinding }),
  )
}

const mayReachOrigin = (probe: Probe) => probe.profile === 'proxy' && /\/\/allowed\.test\b/.test(`${probe.command}`)

async function runOnce(probe: Probe, members: Record<string, unknown>, bench: Bench): Promise<Outcome> {
  await using surroundings = await bench.surroundings(probe.prepare)
  await using connection = await bench.connect()
  const attempt = new Attempt(probe, bench, surroundings, connection)
  const checks = attempt.fill(probe.expect.host ?? [])
  const before = new Set(checks.flatMap(({ no_process }) => (no_process ? processesRunning(no_process) : [])))
  const { reasons, said } = await (probe.command ? runCommand(attempt, members) : callSteps(attempt))
  if (said.includes(bench.secret)) reasons.push('it shows a secret of the server')
  if (HIDDEN_TEXT[probe.profile]?.test(said)) reasons.push('it shows what its profile hides')
  const host = () => judgeHost(checks, before)
  await eventually(() => host().length === 0, 'the host to be as it should', SETTLE_MS).catch(() => undefined)
  reasons.push(...host(), ...(await surroundings.traces()))
  const visits = bench.takeVisits()
  if (!mayReachOrigin(probe)) reasons.push(...visits.map((visit) => `the host was reached: ${visit}`))
  reasons.push(...bench.killSurvivors().map((line) => `it has outlived its command: ${line}`))
  return { reasons, said }
}
