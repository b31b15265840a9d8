import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fromPosixPath } from '@waldo/protocol'
import { local } from '@waldo/sdk'
import fc from 'fast-check'
import { applyPatchText } from '../../packages/exec/src/patch/apply-patch-text.ts'
import { scratch, WALDO } from '../environments/scratch.ts'
import { patch } from './patch-case.ts'
import { hunksBetween } from './test-differ.ts'
import { expectedTree, readTree, writeTree } from './tree.ts'

process.umask(0o022)

const state = scratch()
const workspace = scratch()
const environment = local({ runtime: { executable: WALDO, stateDir: state.path } })
let count = 0

after(async () => {
  await environment.close()
  state[Symbol.dispose]()
  workspace[Symbol.dispose]()
})

/** No one of them is the directory of another. */
const PATHS = ['a', 'b', 'ä ö', 'd/x', 'd/y', 'e/f/z', 'e/f/w', 'g/h/i/j']
const LINES = ['a', 'b', 'c', '', '  a', 'a  ', 'x \u2013 y', 'x - y', '-', '+', ' ', '@@', '*** End Patch', '\t', 'é']

type Lines = Readonly<Record<string, readonly string[]>>
const trees: fc.Arbitrary<Lines> = fc.dictionary(
  fc.constantFrom(...PATHS),
  fc.array(fc.constantFrom(...LINES), { maxLength: 14 }),
  { noNullPrototype: true },
)

test('a patch between any two trees makes the second of the first', async () => {
  const property = fc.asyncProperty(trees, trees, fc.boolean(), fc.boolean(), async (old, next, isCrlf, moves) => {
    const directory = workspace.at(`case-${++count}`)
    // New lines end as the first line does; where there is none, with LF.
    const endingOf = (path: string) => (isCrlf && (old[path]?.length ?? 0) > 0 ? '\r\n' : '\n')
    const sources = moves ? pairs(old, next) : new Map<string, string>()
    const render = (tree: Lines, ending: (path: string) => string) =>
      Object.fromEntries(
        Object.entries(tree).map(([path, lines]) => [path, lines.map((line) => `${line}${ending(path)}`).join('')]),
      )
    writeTree(directory, render(old, endingOf))
    const text = patchBetween(old, next, sources)
    if (text === undefined) return
    await applyPatchText(text, { files: environment.files, cwd: fromPosixPath(directory) })
    const found = Object.entries(readTree(directory)).filter(([, entry]) => entry !== 'dir/')
    const expected = render(next, (path) => endingOf(sources.get(path) ?? path))
    assert.deepEqual(Object.fromEntries(found), expectedTree(expected), text)
  })
  await fc.assert(property, { numRuns: 150 })
})

/** What is gone may have gone to where something is new: by the new path. */
function pairs(old: Lines, next: Lines): Map<string, string> {
  const gone = Object.keys(old).filter((path) => !Object.hasOwn(next, path))
  const fresh = Object.keys(next).filter((path) => !Object.hasOwn(old, path))
  return new Map(fresh.slice(0, gone.length).map((path, index) => [path, gone[index]!]))
}

function patchBetween(old: Lines, next: Lines, sources: ReadonlyMap<string, string>): string | undefined {
  const moved = new Set(sources.values())
  const sections = [
    ...Object.keys(old)
      .filter((path) => !Object.hasOwn(next, path) && !moved.has(path))
      .map((path) => [`*** Delete File: ${path}`]),
    ...Object.entries(next).map(([path, lines]) => {
      const source = sources.get(path)
      const before = old[source ?? path]
      if (!before) return [`*** Add File: ${path}`, ...lines.map((line) => `+${line}`)]
      const hunks = hunksBetween(before, lines)
      if (source !== undefined) return [`*** Update File: ${source}`, `*** Move to: ${path}`, ...hunks]
      return hunks.length === 0 ? [] : [`*** Update File: ${path}`, ...hunks]
    }),
  ]
  const lines = sections.flat()
  return lines.length === 0 ? undefined : patch(...lines)
}
