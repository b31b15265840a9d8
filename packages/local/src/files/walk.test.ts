import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fromPosixPath } from '@waldo/protocol'
import fc from 'fast-check'
import { walk } from './walk.ts'

let root: string
before(() => {
  root = mkdtempSync(join(tmpdir(), 'waldo-walk-'))
})
after(() => rmSync(root, { recursive: true, force: true }))

const unlimited = {
  maxDepth: 64,
  maxDirectories: 10_000,
  maxEntries: 50_000,
  followDirectorySymlinks: false,
  pruneHiddenDirectories: false,
}

/** The same, as simply as it can be said. */
function expected(tree: string): { path: string; kind: string }[] {
  const entries: { path: string; kind: string }[] = []
  let level = [tree]
  while (level.length > 0) {
    const next: string[] = []
    for (const directory of level) {
      const names = readdirSync(directory).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      for (const name of names) {
        const stat = lstatSync(join(directory, name))
        if (stat.isDirectory()) next.push(join(directory, name))
        if (!stat.isSymbolicLink()) {
          entries.push({ path: fromPosixPath(join(directory, name)), kind: stat.isDirectory() ? 'directory' : 'file' })
        }
      }
    }
    level = next
  }
  return entries
}

describe('walking', () => {
  test('any tree gives what a simple walk gives', async () => {
    const name = fc.constantFrom('a', 'b', 'B', '.h', 'é', '￿', '😀', 'x y', 'z%')
    const path = fc.array(name, { minLength: 1, maxLength: 4 })
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(path, { maxLength: 20 }), async (paths) => {
        const tree = join(root, `t${count++}`)
        mkdirSync(tree)
        for (const [index, names] of paths.entries()) {
          const at = join(tree, ...names)
          try {
            mkdirSync(dirname(at), { recursive: true })
            if (index % 5 === 4) symlinkSync(tree, at)
            else writeFileSync(at, '')
          } catch {
            // A file is in the way of a directory, or the other way round: one of them is enough.
          }
        }
        assert.deepEqual((await walk(tree, unlimited)).entries, expected(tree))
      }),
      { numRuns: 60 },
    )
  })

  test('thousands of names come in order, whatever steps they were read in', async () => {
    const crowd = join(root, 'crowd')
    mkdirSync(crowd)
    for (let i = 0; i < 5000; i++) writeFileSync(join(crowd, `file-with-a-rather-long-name-${i}`), '')
    assert.deepEqual((await walk(crowd, unlimited)).entries, expected(crowd))
  })

  test('limits stop it, and it says so', async () => {
    const tree = join(root, 'limited')
    for (const name of ['a/x', 'b/x', 'c/x']) {
      mkdirSync(dirname(join(tree, name)), { recursive: true })
      writeFileSync(join(tree, name), '')
    }
    const shape = async (more: object) => {
      const { entries, truncated } = await walk(tree, { ...unlimited, ...more })
      return [entries.length, truncated]
    }
    assert.deepEqual(await shape({}), [6, false])
    assert.deepEqual(await shape({ maxDepth: 0 }), [3, false])
    assert.deepEqual(await shape({ maxEntries: 4 }), [4, true])
    assert.deepEqual(await shape({ maxEntries: 6 }), [6, false])
    assert.deepEqual(await shape({ maxDirectories: 2 }), [4, true])
    assert.deepEqual(await shape({ maxDirectories: 4 }), [6, false])
  })
})
