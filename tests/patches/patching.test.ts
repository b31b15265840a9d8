import assert from 'node:assert/strict'
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { after, describe, test } from 'node:test'
import { ExecError, sandboxProfiles } from '@waldo/environment'
import { fromPosixPath } from '@waldo/protocol'
import { applyPatchText } from '../../packages/exec/src/patch/apply-patch-text.ts'
import { commitPatch } from '../../packages/exec/src/patch/commit-patch.ts'
import { parsePatch } from '../../packages/exec/src/patch/parse-patch.ts'
import { PatchError } from '../../packages/exec/src/patch/patch-error.ts'
import { verifyPatch } from '../../packages/exec/src/patch/verify-patch.ts'
import { scratch } from '../environments/scratch.ts'
import { countedFiles } from './counted-files.ts'
import { faultyFiles } from './faulty-files.ts'
import { patch, update } from './patch-case.ts'
import { openSettings } from './settings.ts'
import { readTree, writeTree } from './tree.ts'

process.umask(0o022)

const noSandbox = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'
const settings = await openSettings()
after(() => settings[Symbol.asyncDispose]())

for (const { title, environment } of settings.all) {
  describe(`a patch ${title}`, () => {
    const { files } = environment
    const verify = (text: string, directory: string) =>
      verifyPatch(parsePatch(text), { files, cwd: fromPosixPath(directory) })

    test('is shown before it is written, and what was changed is told after', async () => {
      using dir = scratch()
      writeTree(dir.path, { u: 'a\nb\nc\n', d: 'x\n', m: '1\n' })
      const text = patch(
        ...['*** Delete File: d', '*** Update File: u', '@@', '-b', '+B'],
        ...['*** Update File: m', '*** Move to: n', '*** Add File: new', '+y'],
      )
      const verified = await verify(text, dir.path)
      const uri = (name: string) => fromPosixPath(dir.at(name))
      assert.deepEqual(verified.touched, [uri('d'), uri('u'), uri('m'), uri('n'), uri('new')])
      assert.deepEqual(
        verified.changes.map(({ kind, path, diff }) => ({ kind, path, diff })),
        [
          { kind: 'delete', path: uri('d'), diff: '--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x' },
          { kind: 'update', path: uri('u'), diff: '--- a/u\n+++ b/u\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c' },
          { kind: 'move', path: uri('m'), diff: '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1' },
          { kind: 'add', path: uri('new'), diff: '--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+y' },
        ],
      )
      assert.deepEqual(readTree(dir.path), { u: 'a\nb\nc\n', d: 'x\n', m: '1\n' })
      const committed = await commitPatch(verified, { files })
      assert.equal(committed.text, 'Success. Updated the following files:\nA new\nM u\nM n\nD d\n')
      assert.deepEqual(readTree(dir.path), { u: 'a\nB\nc\n', n: '1\n', new: 'y\n' })
    })

    test('is judged by where links lead to', async () => {
      using dir = scratch()
      using elsewhere = scratch()
      writeTree(dir.path, { 'inside/f': '1\n', out: { link: elsewhere.path }, in: { link: 'inside' } })
      writeTree(elsewhere.path, { f: '2\n' })
      const text = patch(
        ...['*** Update File: in/f', '@@', '-1', '+one', '*** Update File: out/f', '@@', '-2', '+two'],
        ...['*** Add File: out/a/b', '+3'],
      )
      const { touched } = await verify(text, dir.path)
      const expected = [dir.at('inside/f'), elsewhere.at('f'), elsewhere.at('a/b')]
      assert.deepEqual(touched, expected.map(fromPosixPath))
    })

    test('says what comes to a place, and what that overwrites', async () => {
      using dir = scratch()
      writeTree(dir.path, { m: '1\n2\n', rc: 'precious\n', added: 'old\n', d: 'x\n' })
      const text = patch(
        ...['*** Update File: m', '*** Move to: rc', '@@', '-2', '+two', '*** Add File: added', '+new'],
        ...['*** Delete File: d', '*** Add File: d', '+y'],
      )
      const { changes } = await verify(text, dir.path)
      assert.deepEqual(
        changes.map(({ diff }) => diff),
        [
          'overwrites rc\n--- a/rc\n+++ b/rc\n@@ -1 +1,2 @@\n-precious\n+1\n+two',
          'overwrites added\n--- a/added\n+++ b/added\n@@ -1 +1 @@\n-old\n+new',
          '--- a/d\n+++ b/d\n@@ -1 +1 @@\n-x\n+y',
        ],
      )
    })

    test('in a directory that is reached through a link is told by a name that people gave, or where it is', async () => {
      using dir = scratch()
      mkdirSync(dir.at('real'))
      writeTree(dir.at('real'), { 'd/f': '1\n' })
      symlinkSync('real', dir.at('link'))
      symlinkSync('real/d', dir.at('other'))
      const parsed = parsePatch(patch('*** Update File: d/f', '@@', '-1', '+2', '*** Add File: e/g', '+3'))
      const at = (...names: string[]) => names.map((name) => fromPosixPath(dir.at(name)))
      const [cwd] = at('link')
      const told = async (...homes: string[]) => {
        const { directory, touched } = await verifyPatch(parsed, { files, cwd: cwd!, homes: at(...homes) })
        return [directory, ...touched]
      }
      assert.deepEqual(await told(), at('real', 'real/d/f', 'real/e/g'))
      assert.deepEqual(await told('link'), at('link', 'link/d/f', 'link/e/g'))
      assert.deepEqual(await told('missing', 'other', 'link'), at('link', 'other/f', 'link/e/g'))
      assert.deepEqual(await told('link', 'other'), at('link', 'link/d/f', 'link/e/g'))
      const verified = await verifyPatch(parsed, { files, cwd: cwd!, homes: at('link') })
      await commitPatch(verified, { files })
      assert.deepEqual(readTree(dir.at('real')), { 'd/f': '2\n', 'e/g': '3\n' })
    })

    test('in a directory that is not there yet is judged by where that will be', async () => {
      using dir = scratch()
      using elsewhere = scratch()
      symlinkSync(elsewhere.path, dir.at('link'))
      const verified = await verify(patch('*** Add File: f', '+1'), dir.at('link/new/deep'))
      assert.deepEqual(
        [verified.directory, ...verified.touched],
        [elsewhere.at('new/deep'), elsewhere.at('new/deep/f')].map((path) => fromPosixPath(path)),
      )
      await commitPatch(verified, { files })
      assert.deepEqual(readTree(elsewhere.path), { 'new/deep/f': '1\n' })
    })

    test('may require that the directory is there, which takes no round trip', async () => {
      using dir = scratch()
      writeTree(dir.path, { f: 'a\n', 'd/x': '1\n', link: { link: 'd' }, broken: { link: 'nowhere' } })
      const add = parsePatch(patch('*** Add File: y', '+2'))
      const counted = countedFiles(files)
      const verifyIn = (name: string) =>
        verifyPatch(add, { files: counted.files, cwd: fromPosixPath(dir.at(name)), requireDirectory: true })
      assert.deepEqual((await verifyIn('link')).touched, [fromPosixPath(dir.at('d/y'))])
      assert.equal(counted.count.depth, 1)
      for (const [name, reason] of [
        ['missing', /cannot work in \S+missing: there is no such directory/],
        ['broken', /there is no such directory/],
        ['f', /cannot work in \S+f: it is not a directory/],
        ['f/g', /cannot work in/],
      ] as const) {
        await assert.rejects(verifyIn(name), (error) => PatchError.is(error, 'MISMATCH') && reason.test(error.message))
      }
    })

    test('in a directory that a sandbox hides is refused if that must be there', { skip: noSandbox }, async () => {
      using dir = scratch()
      writeTree(dir.path, { 'hidden/d/f': 'a\n' })
      const hidden = { type: 'path', path: fromPosixPath(dir.at('hidden')) } as const
      const root = { type: 'special', value: { kind: 'root' } } as const
      const entries = [{ path: root, access: 'read' } as const, { path: hidden, access: 'deny' } as const]
      const sandbox = {
        ...sandboxProfiles.readOnly(),
        permissions: { type: 'managed', file_system: { type: 'restricted', entries }, network: 'restricted' },
      } as const
      const options = { files, cwd: fromPosixPath(dir.at('hidden/d')), requireDirectory: true } as const
      const add = parsePatch(patch(`*** Add File: ${dir.at('x')}`, '+x'))
      await verifyPatch(add, options)
      await assert.rejects(
        verifyPatch(add, { ...options, sandbox }),
        (error) => PatchError.is(error, 'MISMATCH') && /cannot work in/.test(error.message),
      )
    })

    test('with paths that nothing can be put beside, or that no system takes, is refused', async () => {
      using dir = scratch()
      const refused = async (name: string, cwd = fromPosixPath(dir.path)) =>
        await assert.rejects(verifyPatch(parsePatch(patch(`*** Add File: ${name}`, '+x')), { files, cwd }), (error) =>
          PatchError.is(error, 'INVALID'),
        )
      for (const name of ['/C:/x', '/c:', '/C:/x/../y', '../../../../../../../../C:/x']) await refused(name)
      await refused('x', fromPosixPath('/C:/x'))
      await refused('/x', fromPosixPath('/C:/x'))
      await refused('x', fromPosixPath('/a'.repeat(500_000)))
      await refused('x', fromPosixPath('/a'.repeat(257)))
      const deep = await verifyPatch(parsePatch(patch('*** Add File: x', '+x')), {
        files,
        cwd: fromPosixPath('/a'.repeat(256)),
      })
      assert.equal(deep.changes.length, 1)
      await refused('x', fromPosixPath(`/${'a'.repeat(1_000_000)}`))
    })

    test('with an absolute path is applied there', async () => {
      using dir = scratch()
      using elsewhere = scratch()
      const verified = await verify(patch(`*** Add File: ${elsewhere.at('x/f')}`, '+1'), dir.path)
      assert.deepEqual(verified.touched, [fromPosixPath(elsewhere.at('x/f'))])
      await commitPatch(verified, { files })
      assert.deepEqual(readTree(elsewhere.path), { 'x/f': '1\n' })
    })

    test('leaves other names of a file what they are', async () => {
      using dir = scratch()
      writeTree(dir.path, { f: 'old\n' })
      linkSync(dir.at('f'), dir.at('other'))
      await applyPatchText(update('@@', '-old', '+new'), { files, cwd: fromPosixPath(dir.path) })
      assert.deepEqual(readTree(dir.path), { f: 'new\n', other: 'old\n' })
    })

    test('keeps all bits of a mode', async () => {
      using dir = scratch()
      writeTree(dir.path, { f: { content: 'a\n', mode: 0o4750 } })
      await applyPatchText(update('@@', '-a', '+b'), { files, cwd: fromPosixPath(dir.path) })
      assert.equal(statSync(dir.at('f')).mode & 0o7777, 0o4750)
    })

    const meanwhile: readonly { what: string; happens: (at: (name: string) => string) => void }[] = [
      { what: 'a file has changed', happens: (at) => writeFileSync(at('f'), 'other\n') },
      { what: 'a file is gone', happens: (at) => rmSync(at('f')) },
      { what: 'a file has come', happens: (at) => writeFileSync(at('new'), 'mine\n') },
      {
        what: 'a file has become a link',
        happens: (at) => {
          renameSync(at('f'), at('away'))
          symlinkSync('away', at('f'))
        },
      },
      {
        what: 'a directory has become a link',
        happens: (at) => {
          renameSync(at('d'), at('away'))
          symlinkSync('away', at('d'))
        },
      },
    ]
    for (const { what, happens } of meanwhile) {
      test(`is not written if ${what} since it was verified`, async () => {
        using dir = scratch()
        writeTree(dir.path, { f: 'a\n', 'd/g': '1\n' })
        const text = patch(
          ...['*** Update File: f', '@@', '-a', '+b', '*** Update File: d/g', '@@', '-1', '+2'],
          ...['*** Add File: new', '+x'],
        )
        const verified = await verify(text, dir.path)
        happens(dir.at)
        const found = readTree(dir.path)
        await assert.rejects(
          commitPatch(verified, { files }),
          (error) => PatchError.is(error, 'STALE') && /Nothing was written/.test(error.message),
        )
        assert.deepEqual(readTree(dir.path), found)
      })
    }

    test('does not replace what comes at the last moment', async () => {
      using dir = scratch()
      writeTree(dir.path, { f: 'a\n' })
      const verified = await verify(patch('*** Update File: f', '@@', '-a', '+b', '*** Add File: new', '+x'), dir.path)
      const late = faultyFiles(files, ({ method }) => {
        if (method === 'rename') writeFileSync(dir.at('new'), 'mine\n')
        return undefined
      })
      await assert.rejects(commitPatch(verified, { files: late }), (error) => PatchError.is(error, 'FAILED'))
      assert.deepEqual(readTree(dir.path), { f: 'a\n', new: 'mine\n' })
    })

    test('that was given up is not written', async () => {
      using dir = scratch()
      writeTree(dir.path, { f: 'a\n' })
      const verified = await verify(patch('*** Update File: f', '@@', '-a', '+b', '*** Add File: n/x', '+x'), dir.path)
      const calls = ['createDirectory', 'copy', 'writeFile']
      for (const last of calls) {
        const abort = new AbortController()
        const aborting = faultyFiles(files, ({ method }) => {
          if (method === last) abort.abort(new Error('enough'))
          return undefined
        })
        await assert.rejects(commitPatch(verified, { files: aborting, signal: abort.signal }), /enough/)
        assert.deepEqual(readTree(dir.path), { f: 'a\n' })
      }
      await assert.rejects(commitPatch(verified, { files, signal: AbortSignal.abort(new Error('enough')) }), /enough/)
      await assert.rejects(
        verifyPatch(parsePatch(update('@@', '+x')), {
          files,
          cwd: fromPosixPath(dir.path),
          signal: AbortSignal.abort(new Error('enough')),
        }),
        /enough/,
      )
    })

    test('that a sandbox denies is FAILED because of FILE_DENIED, and nothing has changed', {
      skip: noSandbox,
    }, async () => {
      using dir = scratch()
      using outside = scratch()
      writeTree(dir.path, { f: 'a\n', '.git/config': '1\n' })
      writeTree(outside.path, { g: 'a\n' })
      const sandbox = sandboxProfiles.workspaceWrite({ roots: [dir.path], tmp: false })
      const cwd = fromPosixPath(dir.path)
      const inside = ['*** Update File: f', '@@', '-a', '+b', '*** Add File: n/x', '+x']
      const denied = [
        ['*** Update File: .git/config', '@@', '-1', '+2'],
        ['*** Add File: .git/hooks/x', '+2'],
        ['*** Delete File: .git/config'],
        [`*** Update File: ${outside.at('g')}`, '@@', '-a', '+b'],
        [`*** Add File: ${outside.at('new')}`, '+b'],
        ['*** Update File: f', `*** Move to: ${outside.at('h')}`],
        [`*** Update File: ${outside.at('g')}`, '*** Move to: h'],
      ]
      for (const lines of denied) {
        const text = patch(...(lines[0]!.endsWith(' f') ? [] : inside), ...lines)
        await assert.rejects(applyPatchText(text, { files, cwd, sandbox }), (error) => {
          assert.ok(PatchError.is(error, 'FAILED'), String(error))
          assert.ok(ExecError.is(error.cause, 'FILE_DENIED'), String(error.cause))
          assert.doesNotMatch(error.message, /waldo-patch/)
          return true
        })
        assert.deepEqual(readTree(dir.path), { f: 'a\n', '.git/config': '1\n' }, String(lines[0]))
        assert.deepEqual(readTree(outside.path), { g: 'a\n' }, String(lines[0]))
      }
    })

    test('in a read-only sandbox is verified, and not written', { skip: noSandbox }, async () => {
      using dir = scratch()
      writeTree(dir.path, { f: 'a\n' })
      const sandbox = sandboxProfiles.readOnly()
      const cwd = fromPosixPath(dir.path)
      const verified = await verifyPatch(parsePatch(update('@@', '-a', '+b')), { files, cwd, sandbox })
      await assert.rejects(commitPatch(verified, { files, sandbox }), (error) => PatchError.is(error, 'FAILED'))
      assert.equal(readFileSync(dir.at('f'), 'utf8'), 'a\n')
      await commitPatch(verified, { files })
      assert.deepEqual(readdirSync(dir.path), ['f'])
      assert.equal(readFileSync(dir.at('f'), 'utf8'), 'b\n')
    })
  })
}
