import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Access, PermissionEntry } from '@waldo/protocol'
import fc from 'fast-check'
import { accessTo, at, bind, FakeHost, roots, special } from './fixtures/fake-host.ts'
import { PolicyError } from './policy-error.ts'
import { PROTECTED_NAMES } from './protected-names.ts'

const PATHS = ['/', '/a', '/a/b', '/a/b/c', '/a/.git', '/a/.git/x', '/x', '/x/.codex', '/l', '/a/l', '/tmp', '/tmp/t']

const anyTree = fc.record(
  {
    '/a/b': fc.constantFrom('/', 'text', '-> /x', '-> ../x'),
    '/a/b/c': fc.constant('text'),
    '/a/.git': fc.constantFrom('/', 'text', '-> /x', '-> b'),
    '/a/l': fc.constantFrom('-> /x', '-> b', '-> l', '-> /nowhere', '-> /tmp', '-> /'),
    '/x/.codex': fc.constantFrom('/', '-> /a'),
    '/l': fc.constantFrom('-> /a', '-> a/l', '-> /tmp'),
    '/tmp': fc.constantFrom('/', '-> /x'),
    '/tmp/t': fc.constant('/'),
    '/tmp/.git': fc.constantFrom('/', '-> /a'),
  },
  { requiredKeys: [] },
)
// What is below a link or a file is not in the tree.
const sane = (tree: Record<string, string>) =>
  Object.keys(tree).every((path) =>
    Object.entries(tree).every(([above, what]) => what === '/' || !path.startsWith(`${above}/`)),
  )

const anyPath = fc.constantFrom(...PATHS)
const anyEntry = fc.record({
  path: fc.oneof(
    { weight: 4, arbitrary: anyPath.map((path) => ({ name: 'path' as const, path })) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(undefined, 'b', '.git').map((subpath) => ({ name: 'roots' as const, subpath })),
    },
    { weight: 1, arbitrary: fc.constant({ name: 'slash_tmp' as const }) },
    { weight: 1, arbitrary: fc.constant({ name: 'root' as const }) },
  ),
  access: fc.constantFrom<Access>('read', 'write', 'deny'),
  skip: fc.boolean(),
})
type Entry = typeof anyEntry extends fc.Arbitrary<infer T> ? T : never

function onTheWire({ path, access, skip }: Entry): PermissionEntry {
  const where = path.name === 'path' ? at(path.path) : path.name === 'roots' ? roots(path.subpath) : special(path.name)
  return { path: where, access, ...(skip && { missing_path_behavior: 'skip' as const }) }
}

interface Said {
  path: string
  access: Access
  links: readonly string[]
  protects: readonly string[]
}

/** Looks at every entry for every question. `undefined`: to be refused. */
function model(entries: readonly Entry[], workspaces: readonly string[], host: FakeHost) {
  const said: Said[] = []
  for (const { path, access, skip } of entries) {
    const isTemporary = path.name === 'slash_tmp'
    const meant =
      path.name === 'path'
        ? [path.path]
        : path.name === 'roots'
          ? workspaces.map((root) => (path.subpath === undefined ? root : `${root}/${path.subpath}`))
          : [isTemporary ? '/tmp' : '/']
    for (const each of meant) {
      const resolved = host.resolve(each)
      if (isTemporary ? !resolved.isDirectory : !resolved.exists && (skip || access === 'write')) continue
      const isWorkspace = workspaces.some((root) => host.resolve(root).path === resolved.path)
      const isThere = (name: string) => {
        const { exists, links } = host.resolve(`${resolved.path}/${name}`)
        return exists && links.length === 0
      }
      const names =
        !resolved.isDirectory || access !== 'write'
          ? []
          : isWorkspace && (isTemporary || resolved.path !== '/')
            ? PROTECTED_NAMES
            : isTemporary
              ? PROTECTED_NAMES.filter(isThere)
              : resolved.path === '/' || PROTECTED_NAMES.includes(resolved.path.split('/').at(-1)!)
                ? []
                : PROTECTED_NAMES
      said.push({ path: resolved.path, access, links: resolved.links, protects: names })
    }
  }

  const split = (path: string) => path.split('/').filter((name) => name !== '')
  const strongest = (path: string) => {
    const here = said.filter((each) => each.path === path).map(({ access }) => access)
    return here.includes('deny') ? 'deny' : here.includes('write') ? 'write' : 'read'
  }
  const decide = (target: string) => {
    const names = split(target)
    const covering = said.filter(({ path }) => split(path).every((name, index) => names[index] === name))
    const depth = Math.max(...covering.map(({ path }) => split(path).length))
    const deepest = covering.filter(({ path }) => split(path).length === depth)
    if (deepest.length === 0 || deepest.some(({ access }) => access === 'deny')) return 'none'
    const writing = deepest.filter(({ access }) => access === 'write')
    if (writing.length === 0) return 'read'
    return writing.some(({ protects }) => protects.includes((names[depth] ?? '').toLowerCase())) ? 'read' : 'write'
  }

  const paths = new Set(said.map(({ path }) => path))
  if (paths.has('/') && [...paths].every((path) => strongest(path) === 'write')) return () => 'write'
  const links = said.flatMap((each) => [
    ...each.links,
    ...(strongest(each.path) === 'write' ? each.protects : []).flatMap(
      (name) => host.resolve(`${each.path}/${name}`).links,
    ),
  ])
  const isChangeable = (link: string) => decide(`/${split(link).slice(0, -1).join('/')}`) === 'write'
  return links.some(isChangeable) ? undefined : decide
}

describe('a profile on a machine, against a model that looks at every entry', () => {
  test('is refused for the same reasons, and otherwise decides the same', () => {
    let [refused, decided] = [0, 0]
    fc.assert(
      fc.property(
        anyTree.filter(sane),
        fc.array(anyEntry, { minLength: 1, maxLength: 6 }),
        fc.subarray(['/a', '/x', '/l', '/a/.git']),
        (tree, entries, workspaces) => {
          const host = new FakeHost({ '/a': '/', '/x': '/', ...tree })
          const expected = model(entries, workspaces, host)
          const given = { entries: entries.map(onTheWire), cwd: '/a', roots: workspaces }
          if (!expected) {
            refused++
            assert.throws(() => bind(given, host), PolicyError)
            return
          }
          decided++
          const policy = bind(given, host)
          for (const path of [...PATHS, '/x/y', '/a/.codex', '/tmp/.git/x', '/nowhere']) {
            assert.equal(accessTo(policy, path), expected(path), path)
          }
        },
      ),
      { numRuns: 4000 },
    )
    // Both happen, or this proves less than it seems to.
    assert.ok(refused > 100 && decided > 1000, `${refused} refused, ${decided} decided`)
  })
})
