import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MergedChanges, type SeenChange } from './merged-changes.ts'

/** A path with the version of what is there; directories have none. */
type Tree = Map<string, number | 'directory'>

const name = fc.constantFrom('a', 'b', 'c')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => `/${names.join('/')}`)
const step = fc.record({ path, action: fc.constantFrom('directory', 'write', 'remove') })

/** Does it, if it can be done, and returns what a watch would tell. */
function act(tree: Tree, { path, action }: { path: string; action: string }, version: number): SeenChange[] {
  const parent = path.slice(0, path.lastIndexOf('/'))
  const there = tree.get(path)
  if (parent !== '' && tree.get(parent) !== 'directory') return []
  const isDirectory = there === 'directory'
  if (action === 'remove') {
    forget(tree, path)
    return there === undefined ? [] : [{ path, kind: 'removed', isDirectory }]
  }
  if (isDirectory || (action === 'directory' && there !== undefined)) return []
  tree.set(path, action === 'directory' ? 'directory' : version)
  return [{ path, kind: there === undefined ? 'created' : 'modified', isDirectory: action === 'directory' }]
}

function forget(tree: Tree, path: string): void {
  for (const known of tree.keys()) if (known === path || known.startsWith(`${path}/`)) tree.delete(known)
}

const merge = (changes: Iterable<SeenChange>) => {
  const merged = new MergedChanges()
  for (const change of changes) merged.add(change)
  return [...merged]
}

test('whoever applies merged changes has what is there, however they were cut into batches', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 6 }), fc.nat(5), (batches, known) => {
      const tree: Tree = new Map()
      let replica: Tree = new Map()
      const told: SeenChange[] = []
      let version = 0
      for (const [index, batch] of batches.entries()) {
        if (index === known) {
          replica = new Map(tree)
          told.length = 0
        }
        told.push(...merge(batch.flatMap((step) => act(tree, step, ++version))))
      }
      for (const { path, kind } of merge(told)) {
        const now = kind === 'removed' ? undefined : tree.get(path)
        if (now !== 'directory') forget(replica, path)
        if (now !== undefined) replica.set(path, now)
      }
      assert.deepEqual([...replica].sort(), [...tree].sort())
    }),
    { numRuns: 3000 },
  )
})

test('several changes of a file become one', () => {
  const kinds = (...kinds: SeenChange['kind'][]) =>
    merge(kinds.map((kind) => ({ path: '/f', kind, isDirectory: false }))).map(({ kind }) => kind)
  assert.deepEqual(kinds('created', 'modified', 'modified'), ['created'])
  assert.deepEqual(kinds('removed', 'created'), ['modified'])
  assert.deepEqual(kinds('created', 'removed'), ['removed'])
  assert.deepEqual(kinds('modified', 'removed'), ['removed'])
})

test('a directory that was replaced is removed first, and what is in the new one comes after that', () => {
  const directory = (kind: SeenChange['kind']) => ({ path: '/d', kind, isDirectory: true })
  const file = (kind: SeenChange['kind']) => ({ path: '/d/f', kind, isDirectory: false })
  assert.deepEqual(
    merge([directory('created'), file('created'), directory('removed'), directory('created'), file('modified')]),
    [directory('removed'), directory('created'), { ...file('created') }],
  )
})
