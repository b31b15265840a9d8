import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromPosixPath } from '@waldo/protocol'
import { connect } from '@waldo/sdk'
import { commitPatch } from '../../packages/exec/src/patch/commit-patch.ts'
import { parsePatch } from '../../packages/exec/src/patch/parse-patch.ts'
import { verifyPatch } from '../../packages/exec/src/patch/verify-patch.ts'
import { startProxy } from '../environments/cutting-proxy.ts'
import { startExecutor } from '../environments/executors.ts'
import { scratch } from '../environments/scratch.ts'
import { patch, type Tree } from './patch-case.ts'
import { expectedTree, readTree, writeTree } from './tree.ts'

process.umask(0o022)

const names = Array.from({ length: 12 }, (_, index) => `d${index % 3}/f${index}`)
const before: Tree = { ...Object.fromEntries(names.map((name) => [name, `${name}\nx\n`])), gone: '1\n' }
const after: Tree = { ...Object.fromEntries(names.map((name) => [name, `${name}\ny\n`])), 'n/new': '2\n' }
const text = patch(
  ...names.flatMap((name) => [`*** Update File: ${name}`, '@@', '-x', '+y']),
  ...['*** Delete File: gone', '*** Add File: n/new', '+2'],
)

for (const direction of ['up', 'down'] as const) {
  test(`a patch is applied although the wire is cut, wherever that is on the way ${direction}`, async () => {
    await using executor = await startExecutor()
    await using proxy = await startProxy(executor.url)
    await using environment = connect(proxy.url)
    const { files } = environment
    const passed = async (cutAt: number | undefined) => {
      using directory = scratch()
      writeTree(directory.path, before)
      const verified = await verifyPatch(parsePatch(text), { files, cwd: fromPosixPath(directory.path) })
      const start = proxy.bytes[direction]
      if (cutAt !== undefined) proxy.cutAfter(direction, cutAt)
      await commitPatch(verified, { files })
      assert.deepEqual(readTree(directory.path), expectedTree(after), `cut after ${cutAt} bytes`)
      return proxy.bytes[direction] - start
    }
    const total = await passed(undefined)
    const steps = 24
    for (let step = 0; step < steps; step++) await passed(1 + Math.floor((total * step) / steps))
    assert.ok(proxy.connections > steps / 2)
  })
}
