import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { Person } from './cli-waldo.ts'

interface Step {
  readonly command: string
  readonly output: string
}

/** Between the outputs of two commands. */
const MARK = '\u0001'

/** `$` begins a command, `>` goes on with it, and what follows is what comes. */
function stepsOf(block: string): Step[] {
  return block.split(/^\$ /m).flatMap((text) => {
    const [first, ...lines] = text.split('\n')
    if (first === '') return []
    const more = lines.findIndex((line) => !/^>( |$)/.test(line))
    const command = [first, ...lines.slice(0, more).map((line) => line.slice(2))].join('\n')
    return [{ command, output: lines.slice(more).join('\n') }]
  })
}

/** What each prints, one after the other in one shell. */
async function outputsOf(person: Person, steps: readonly Step[]): Promise<string[]> {
  // What a command ends with is there for the next one to look at.
  const separator = `waldo_code=$?; printf '${MARK}'; (exit $waldo_code)`
  const script = ['exec 2>&1; cd project', ...steps.flatMap(({ command }) => [command, separator])].join('\n')
  const { stdout } = await person.shell(script)
  return stdout.replaceAll(person.directory, '/home/me').split(MARK)
}

/** An ellipsis stands for anything in its line. */
function pattern(text: string): RegExp {
  const literal = text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return new RegExp(`^${literal.replaceAll('…', '.*')}$`)
}

for (const name of ['policy.md', 'apply-patch.md']) {
  describe(`docs/${name}`, () => {
    test('what it says to type gives what it says will come', async () => {
      using person = new Person()
      delete person.env.WALDO_HOME
      mkdirSync(person.path('project'))
      let checked = 0
      const text = readFileSync(join(import.meta.dir, '../docs', name), 'utf8')
      for (const [, kind, block] of text.matchAll(/^```(console|python)\n(.*?)^```$/gms)) {
        if (kind === 'python') {
          // A rules file, which its first line names.
          const file = person.path(join('project', block!.slice(2, block!.indexOf('\n'))))
          mkdirSync(dirname(file), { recursive: true })
          writeFileSync(file, block!)
          continue
        }
        const steps = stepsOf(block!)
        const outputs = await outputsOf(person, steps)
        for (const [index, { command, output }] of steps.entries()) {
          assert.match(outputs[index]!, pattern(output), `$ ${command}\n${outputs[index]}`)
        }
        checked += steps.length
      }
      assert.ok(checked > 0, 'there is nothing to type in it: how its examples are written has changed')
    })
  })
}
