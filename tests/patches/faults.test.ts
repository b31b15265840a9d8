import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { FileSystem } from '@waldo/environment'
import { fromPosixPath } from '@waldo/protocol'
import { local } from '@waldo/sdk'
import { commitPatch } from '../../packages/exec/src/patch/commit-patch.ts'
import { parsePatch } from '../../packages/exec/src/patch/parse-patch.ts'
import { PatchError } from '../../packages/exec/src/patch/patch-error.ts'
import { verifyPatch } from '../../packages/exec/src/patch/verify-patch.ts'
import { scratch, WALDO } from '../environments/scratch.ts'
import { changesSomething, type Fault, type FileCall, faultyFiles } from './faulty-files.ts'
import { patch, type Tree } from './patch-case.ts'
import { expectedTree, readTree, writeTree } from './tree.ts'

process.umask(0o022)

const OLD: Tree = {
  updated: { content: 'a\nb\n', mode: 0o755 },
  'd/other': '1\n2\n',
  'd/deleted': { content: 'gone\n', mode: 0o600 },
  moved: { content: 'm\n', mode: 0o700 },
  onto: 'old\n',
  over: { content: 'o\n', mode: 0o640 },
  replaced: 'r\n',
}
const NEW: Tree = {
  updated: { content: 'a\nB\n', mode: 0o755 },
  'd/other': '1\ntwo\n',
  'x/y/moved': { content: 'M\n', mode: 0o700 },
  over: { content: 'new\n', mode: 0o640 },
  replaced: 'R\n',
  'x/added': 'x\n',
  'n/o/p': 'y\n',
}
const PATCH = patch(
  ...['*** Update File: updated', '@@', '-b', '+B'],
  ...['*** Update File: d/other', '@@', '-2', '+two'],
  ...['*** Delete File: d/deleted'],
  ...['*** Update File: moved', '*** Move to: x/y/moved', '@@', '-m', '+M'],
  ...['*** Update File: onto', '*** Move to: over', '@@', '-old', '+new'],
  ...['*** Add File: replaced', '+R'],
  ...['*** Add File: x/added', '+x'],
  ...['*** Add File: n/o/p', '+y'],
)

const state = scratch()
const workspace = scratch()
const environment = local({ runtime: { executable: WALDO, stateDir: state.path } })
let count = 0

/** Applies the patch to a new tree. Returns the error, if there is one, and whether the tree is the new one. */
async function apply(
  faultOf: (call: FileCall) => Fault | undefined,
): Promise<{ error: unknown; calls: number; leftBehind: readonly string[] }> {
  const directory = workspace.at(`case-${++count}`)
  writeTree(directory, OLD)
  let calls = 0
  const files: FileSystem = faultyFiles(environment.files, (call) => {
    calls = call.number
    return faultOf(call)
  })
  const cwd = fromPosixPath(directory)
  let leftBehind: readonly string[] = []
  const error = await verifyPatch(parsePatch(PATCH), { files, cwd })
    .then((verified) => commitPatch(verified, { files }))
    .then((committed) => {
      leftBehind = committed.leftBehind.map((path) => path.slice(cwd.length + 1))
    })
    .catch((failure: unknown) => failure)
  const found = readTree(directory)
  for (const name of leftBehind) {
    assert.ok(found[name], name)
    delete found[name]
  }
  if (PatchError.is(error, 'PARTIAL')) assertReport(error.message, directory)
  else assert.deepEqual(found, expectedTree(error === undefined ? NEW : OLD), String(error))
  return { error, calls, leftBehind }
}

/** Every line about a file is true. */
function assertReport(report: string, directory: string): void {
  const [found, before, next] = [readTree(directory), expectedTree(OLD), expectedTree(NEW)]
  const lines = [...report.matchAll(/^file:\/\/\S*?\/case-\d+\/(\S+): (.*)$/gm)]
  for (const name of new Set([...Object.keys(OLD), ...Object.keys(NEW)])) {
    if (found[name] === before[name] && before[name] === next[name]) continue
    const [, , told] = lines.find(([, path]) => path === name) ?? []
    if (told === 'as before the patch') assert.equal(content(found[name]), content(before[name]), name)
    else if (told === 'as after the patch' || told === 'removed') {
      assert.equal(content(found[name]), content(next[name]), name)
    } else {
      assert.equal(told, 'neither as before nor as after the patch', `${name}\n${report}`)
      assert.ok(![before[name], next[name]].map(content).includes(content(found[name])), name)
    }
  }
  for (const name of Object.keys(found)) {
    if (!name.includes('.waldo-patch-')) continue
    assert.ok(
      lines.some(([, path, told]) => path === name && /temporary file of this patch/.test(told!)),
      `${name}\n${report}`,
    )
  }
}

function content(entry: string | undefined): string | undefined {
  return entry?.replace(/^\(\d+\) /, '')
}

const settings: readonly { title: string; always: (call: FileCall) => Fault | undefined }[] = [
  { title: 'on an executor of ours', always: () => undefined },
  {
    title: 'on an executor that cannot rename',
    always: ({ method }) => (method === 'rename' || method === 'setMode' ? 'unsupported' : undefined),
  },
  {
    title: 'where nothing can be made beside a file',
    always: ({ method, args }) => (method === 'copy' && /updated|other/.test(String(args[0])) ? 'fails' : undefined),
  },
]

for (const { title, always } of settings) {
  describe(`a patch ${title}`, () => {
    test('is applied', async () => {
      const { error } = await apply(always)
      assert.equal(error, undefined)
    })

    for (const fault of ['fails', 'lost before', 'lost after'] as const) {
      test(`is applied or not applied if any one call is ${fault}`, async () => {
        const { calls } = await apply(always)
        let applied = 0
        for (let at = 1; at <= calls; at++) {
          const { error } = await apply((call) => always(call) ?? (call.number === at ? fault : undefined))
          assert.ok(!PatchError.is(error, 'PARTIAL'), String(error))
          if (error === undefined) applied++
        }
        // What a cut leaves in doubt is looked up, and done again if need be.
        if (fault !== 'fails') assert.ok(applied > 0)
      })
    }

    test('is applied, or not, if two calls fail', async () => {
      const { calls } = await apply(always)
      for (let at = 1; at <= calls; at += 7) {
        for (const distance of [1, 2, 5, 11, 23]) {
          const { error } = await apply(({ number, ...call }) =>
            number === at || number === at + distance ? 'fails' : always({ number, ...call }),
          )
          assert.ok(!PatchError.is(error, 'PARTIAL'), String(error))
        }
      }
    })

    for (const fault of ['fails', 'lost before'] as const) {
      test(`is told to be where it is if everything is ${fault} from some call on`, async () => {
        const { calls } = await apply(always)
        const codes = new Set<unknown>()
        for (let at = 1; at <= calls; at += 3) {
          const { error } = await apply((call) => (call.number >= at && changesSomething(call) ? fault : always(call)))
          codes.add(PatchError.is(error) ? error.code : error)
        }
        assert.ok(codes.has('FAILED') && codes.has('PARTIAL'), String([...codes]))
      })
    }
  })
}

test('a patch names the temporary files that could not be removed, and no others', async () => {
  // One deleted and two moved files are set aside. A write that was cut leaves one more, if it arrived or had a file to
  // write to.
  const setAside = 3
  for (const cut of ['lost before', 'lost after'] as const) {
    for (let cutAt = 1; cutAt <= 3; cutAt++) {
      let writes = 0
      const { error, leftBehind } = await apply((call) => {
        if (call.method === 'remove' && /waldo-patch/.test(String(call.args[0]))) return 'fails'
        return call.method === 'writeFile' && ++writes === cutAt ? cut : undefined
      })
      assert.equal(error, undefined)
      assert.equal(new Set(leftBehind).size, leftBehind.length)
      assert.ok([setAside, setAside + 1].includes(leftBehind.length), leftBehind.join())
    }
  }
})

after(async () => {
  await environment.close()
  state[Symbol.dispose]()
  workspace[Symbol.dispose]()
})
