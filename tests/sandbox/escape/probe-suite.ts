import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { NotApplicable } from './attempt.ts'
import { forEachAccount } from './for-each-account.ts'
import { HostState } from './host-state.ts'
import { readProbes } from './probe.ts'
import { runProbe } from './run-probe.ts'

const SHOWN = 600

/** A test for each probe of a file, for each account. */
export function probeSuite(title: string, file: string): void {
  const probes = readProbes(file)
  forEachAccount(title, (bench) => {
    let hostState: HostState
    before(() => {
      hostState = new HostState(probes)
    })
    for (const probe of probes) {
      const skip = probe.arch && probe.arch !== process.arch ? `written for ${probe.arch}` : false
      test(probe.name, { skip }, async (context) => {
        try {
          const { reasons, said } = await runProbe(probe, bench(), hostState)
          reasons.push(...(await bench().heal()))
          if (reasons.length > 0) assert.fail(`${reasons.join('; ')}\n${said.slice(0, SHOWN)}\n${probe.note ?? ''}`)
        } catch (error) {
          // Ours has to have what it takes; another server may lack something.
          if (!(error instanceof NotApplicable) || bench().isOwnServer) throw error
          context.skip(error.message)
        }
      })
    }
  })
}
