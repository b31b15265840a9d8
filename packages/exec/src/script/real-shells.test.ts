import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { grammarFiles } from '../node/bash-grammar.ts'
import { assertOnlySegments } from './compare-trace.ts'
import { HOSTILE_SCRIPTS } from './hostile-scripts.ts'
import { PLAIN_SCRIPTS } from './plain-scripts.ts'
import { HARMLESS_FRAGMENTS, ODD_FRAGMENTS } from './script-fragments.ts'
import { ScriptParser } from './script-parser.ts'
import { ShellTracer, type TracedShell } from './shell-tracer.ts'

const ALL_SHELLS: readonly TracedShell[] = [
  { title: 'bash without builtins', program: '/bin/bash', name: 'bash', withoutBuiltins: true },
  { title: 'bash', program: '/bin/bash', name: 'bash' },
  { title: 'dash', program: '/bin/dash', name: 'sh' },
  { title: 'zsh', program: '/bin/zsh', name: 'zsh' },
]
const SHELLS = ALL_SHELLS.filter(({ program }) => existsSync(program))
const parser = new ScriptParser(grammarFiles)
let tracer: ShellTracer

before(async () => {
  tracer = await ShellTracer.create()
})
after(() => tracer.close())

/** How many programs were started; undefined if the script is opaque. */
async function check(shell: TracedShell, script: string): Promise<number | undefined> {
  const line = await parser.commandLine([shell.name, '-c', script])
  if (line.kind === 'opaque') return undefined
  const trace = await tracer.run(shell, script)
  const isPipeline = script.replaceAll('||', '').includes('|')
  try {
    assertOnlySegments(trace, line.segments, !isPipeline)
  } catch (cause) {
    throw new Error(`${shell.title} ran ${JSON.stringify(script)} otherwise than it was read`, { cause })
  }
  return trace.started.length
}

describe('a plain script is run by a real shell as it was read', () => {
  for (const [title, scripts] of Object.entries(PLAIN_SCRIPTS)) {
    test(title, async () => {
      for (const shell of SHELLS) {
        const counts = await Promise.all(scripts.map((script) => check(shell, script)))
        for (const [index, count] of counts.entries()) {
          assert.notEqual(count, undefined, `opaque for ${shell.title}: ${JSON.stringify(scripts[index])}`)
        }
        const started = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
        if (shell.withoutBuiltins) assert.ok(started >= scripts.length, `only ${started} commands were seen`)
      }
    })
  }

  test('however it is put together', async () => {
    let plain = 0
    const fragment = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...HARMLESS_FRAGMENTS) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD_FRAGMENTS) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fragment, { minLength: 1, maxLength: 10 }), async (fragments) => {
        const counts = await Promise.all(SHELLS.map((shell) => check(shell, fragments.join(''))))
        if (counts.some((count) => count !== undefined)) plain++
      }),
      { numRuns: 700 },
    )
    assert.ok(plain > 100, `only ${plain} of them were plain`)
  })
})

describe('a hostile script is opaque', () => {
  for (const [title, scripts] of Object.entries(HOSTILE_SCRIPTS)) {
    test(title, async () => {
      for (const name of ['bash', 'sh', 'zsh']) {
        for (const script of scripts) {
          const line = await parser.commandLine([name, '-lc', script])
          assert.equal(line.kind, 'opaque', `${name}: ${JSON.stringify(script)}`)
        }
      }
    })
  }

  test('and there are enough of both', () => {
    assert.ok(Object.values(HOSTILE_SCRIPTS).flat().length >= 300)
    assert.ok(Object.values(PLAIN_SCRIPTS).flat().length >= 200)
  })
})
