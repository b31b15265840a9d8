import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sandboxProfiles } from '@waldo/environment'
import { fromPosixPath } from '@waldo/protocol'
import { connect } from '@waldo/sdk'
import { commitPatch } from '../../packages/exec/src/patch/commit-patch.ts'
import { parsePatch } from '../../packages/exec/src/patch/parse-patch.ts'
import { verifyPatch } from '../../packages/exec/src/patch/verify-patch.ts'
import { startExecutor } from '../environments/executors.ts'
import { scratch } from '../environments/scratch.ts'
import { countedFiles } from './counted-files.ts'
import { patch, type Tree } from './patch-case.ts'
import { expectedTree, readTree, writeTree } from './tree.ts'

process.umask(0o022)

const HUNKS = 5
const line = (file: number, index: number) => `line ${index} of ${file}`

/** Files of which every one has five hunks; some are moved, and there are new and deleted ones. */
function scenario(files: number): { before: Tree; after: Tree; text: string } {
  const numbers = Array.from({ length: files }, (_, file) => file)
  const content = (change: (index: number) => string) =>
    Array.from({ length: HUNKS * 4 }, (_, index) => `${change(index)}\n`).join('')
  const before = numbers.map((file): [string, string] => [
    `d${file % 10}/f${file}`,
    content((index) => line(file, index)),
  ])
  const after = numbers.map((file): [string, string] => [
    file % 10 === 3 ? `moved/${file}` : `d${file % 10}/f${file}`,
    content((index) => (index % 4 === 2 ? `changed ${index}` : line(file, index))),
  ])
  const sections = numbers.flatMap((file) => [
    `*** Update File: d${file % 10}/f${file}`,
    ...(file % 10 === 3 ? [`*** Move to: moved/${file}`] : []),
    ...Array.from({ length: HUNKS }, (_, hunk) => hunk * 4 + 2).flatMap((index) => [
      `@@ ${line(file, index - 1)}`,
      `-${line(file, index)}`,
      `+changed ${index}`,
      ` ${line(file, index + 1)}`,
    ]),
  ])
  const text = patch(...sections, '*** Add File: new/a/b', '+x', '*** Delete File: old')
  const moved: [string, 'dir/'][] = files > 3 ? [['d3', 'dir/']] : []
  return {
    before: { ...Object.fromEntries(before), old: 'x\n' },
    after: { ...Object.fromEntries(after), ...Object.fromEntries(moved), 'new/a/b': 'x\n' },
    text,
  }
}

for (const title of ['without a sandbox', 'in a sandbox']) {
  const skip =
    title === 'in a sandbox' && process.platform !== 'linux' ? 'executors have a sandbox on Linux only' : false
  test(`500 hunks in 100 files take as many round trips as five hunks in one, ${title}`, { skip }, async () => {
    await using executor = await startExecutor()
    await using environment = connect(executor.url)
    const depths: unknown[] = []
    for (const files of [1, 100]) {
      using directory = scratch()
      const { before, after, text } = scenario(files)
      writeTree(directory.path, before)
      const sandbox = title === 'in a sandbox' ? sandboxProfiles.workspaceWrite({ roots: [directory.path] }) : undefined
      const looked = countedFiles(environment.files)
      const cwd = fromPosixPath(directory.path)
      const verified = await verifyPatch(parsePatch(text), { files: looked.files, cwd, sandbox })
      const written = countedFiles(environment.files)
      await commitPatch(verified, { files: written.files, sandbox })
      assert.deepEqual(readTree(directory.path), expectedTree(after))
      assert.equal(looked.count.depth, 1)
      // Look again, make directories, copy modes, write, rename, remove what is not needed any more.
      assert.equal(written.count.depth, 6)
      assert.ok(looked.count.calls <= 3 * (files + 20), String(looked.count.calls))
      assert.ok(written.count.calls <= 8 * (files + 20), String(written.count.calls))
      depths.push(looked.count.depth, written.count.depth)
    }
    assert.deepEqual(depths.slice(0, 2), depths.slice(2))
  })
}
