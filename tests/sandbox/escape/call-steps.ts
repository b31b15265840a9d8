import { writeFileSync } from 'node:fs'
import type { Attempt, Outcome } from './attempt.ts'
import type { Answer } from './connection.ts'
import { judgeAnswer, textOf } from './expectations.ts'
import { type AnswerExpectation, type Step, stepsOf } from './probe.ts'
import { uri } from './sandbox-context.ts'

const SUCCESS: AnswerExpectation = { rpc: 'ok' }
const NO_SUCH_METHOD = -32601
const ABOUT_A_PROCESS = ['process/read', 'process/write', 'process/signal', 'process/terminate']

/** Does the steps of a probe that calls. The last call is judged by what the probe expects. */
export async function callSteps(attempt: Attempt): Promise<Outcome> {
  const steps = attempt.fill(stepsOf(attempt.probe))
  const { expect } = attempt.probe
  const last = steps.findLast((step) => step.method !== undefined)
  const refused = steps.some((step) => step.method?.startsWith('fs/') && (step.expect ?? expect).rpc === 'error')
  const reasons = refused && !expect.refused ? await allowedCallsWork(attempt) : []
  const said: string[] = []
  for (const step of steps) {
    if (step.sleep_ms !== undefined) await Bun.sleep(step.sleep_ms)
    if (step.host_write !== undefined) writeFileSync(step.host_write.path, step.host_write.data)
    if (step.host_sh !== undefined) attempt.surroundings.runOnHost(step.host_sh)
    if (step.method === undefined) continue
    const answer = await call(attempt, step)
    said.push(answer.error ? `${answer.error.code} ${answer.error.message}` : textOf(answer.result))
    if (answer.error?.code === NO_SUCH_METHOD) reasons.push(`the server does not know ${step.method}`)
    const wanted = step === last ? expect : (step.expect ?? SUCCESS)
    reasons.push(...judgeAnswer(wanted, answer).map((reason) => `${step.method}: ${reason}`))
  }
  return { reasons, said: said.join('\n') }
}

/** A refusal means something only where what the profile allows is not refused. */
async function allowedCallsWork(attempt: Attempt): Promise<string[]> {
  const { probe, surroundings } = attempt
  if (probe.profile === 'ro') return []
  const path = uri(`${attempt.fill(probe.roots?.[0]) ?? surroundings.ws}/allowed.txt`)
  for (const step of [
    { method: 'fs/writeFile', params: { path, dataBase64: 'eA==' } },
    { method: 'fs/readFile', params: { path } },
  ]) {
    const { error } = await call(attempt, step)
    if (error) return [`${step.method} in the workspace is refused too: ${error.message}`]
  }
  return []
}

function call(attempt: Attempt, step: Step): Promise<Answer> {
  const { bench, surroundings, connection } = attempt
  const processId = 'probe-rpc'
  if (ABOUT_A_PROCESS.includes(step.method!)) return connection.call(step.method!, { processId, ...step.params })
  const sandbox = attempt.sandbox((context) => {
    for (const member of step.drop ?? []) delete (context as Record<string, unknown>)[member]
    Object.assign(context, step.set)
    Object.assign(context.permissions.file_system.entries[0]!, step.patch_profile)
  })
  const own = step.method === 'process/start' ? { processId, tty: false, ...bench.commandDefaults(surroundings) } : {}
  return connection.call(step.method!, { ...own, ...step.params, ...sandbox })
}
