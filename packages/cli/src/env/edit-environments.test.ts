import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { TomlProvider } from '@waldo/environment'
import fc from 'fast-check'
import { addEnvironment, removeEnvironment } from './edit-environments.ts'

const path = '/config/environments.toml'
const idsOf = (text: string) => new TomlProvider(text, path).snapshot().environments.map(({ id }) => id)

/** What people write between and behind things. */
const comment = fc.constantFrom('# why\n', '# [[environments]]\n', '\n', '\n\n', '  # "\n', '')
const ids = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9_-]{0,5}$/), { maxLength: 4 })
const documents = fc
  .tuple(ids, fc.array(comment, { minLength: 5, maxLength: 5 }), fc.boolean())
  .map(([names, gaps, first]) => {
    const tables = names.map((id, index) => {
      const odd = index % 2 === 0 ? `url = 'ws://h:1'\n` : `program = "p"\nargs = ["[[environments]]", """\n]\n"""]\n`
      return `${gaps[index]}[[ environments ]] # ${id}\n${gaps[index + 1]}id = "${id}"\n${odd}`
    })
    const known = names[0] !== undefined && first && !['none', 'local'].includes(names[0])
    return { names, text: `${known ? `default = '${names[0]}' # first\n` : ''}${tables.join('')}${gaps[4]}` }
  })

describe('a file of environments', () => {
  test('is the same after an environment was added and removed again, but for the gap at its end', () => {
    fc.assert(
      fc.property(documents, ({ names, text }) => {
        fc.pre(!names.some((name) => ['none', 'local', 'newcomer'].includes(name)))
        const added = addEnvironment({ text, path }, { id: 'newcomer', url: 'ws://a:1' }, false)
        assert.ok(added.startsWith(text))
        assert.deepEqual(idsOf(added), [...names, 'newcomer'])
        const removed = removeEnvironment({ text: added, path }, 'newcomer')
        assert.equal(removed.text.trimEnd(), text.trimEnd())
      }),
    )
  })

  test('loses one environment and no other, whatever surrounds it', () => {
    fc.assert(
      fc.property(documents, fc.nat(), ({ names, text }, pick) => {
        fc.pre(names.length > 0 && !names.some((name) => ['none', 'local'].includes(name)))
        const id = names[pick % names.length]!
        const { text: after, wasDefault } = removeEnvironment({ text, path }, id)
        assert.deepEqual(
          idsOf(after),
          names.filter((name) => name !== id),
        )
        assert.equal(wasDefault, text.startsWith(`default = '${id}'`))
      }),
    )
  })

  test('gets a default, whether it had one or not', () => {
    fc.assert(
      fc.property(documents, ({ names, text }) => {
        fc.pre(!names.some((name) => ['none', 'local', 'newcomer'].includes(name)))
        const after = addEnvironment({ text, path }, { id: 'newcomer', program: ['a', '"\\\n\x7f'] }, true)
        const snapshot = new TomlProvider(after, path).snapshot()
        assert.equal(snapshot.default, 'newcomer')
        const { transport } = snapshot.environments.at(-1)!
        assert.ok(transport.kind === 'command')
        assert.deepEqual(transport.args, ['"\\\n\x7f'])
      }),
    )
  })
})
