import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import * as files from '@waldo/local/files'
import { fromPosixPath, methods, type Params } from '@waldo/protocol'
import { bindPolicy } from '@waldo/sandbox'
import { ThisHost } from '@waldo/sandbox/linux'
import { EncodedResult } from '../encoded-result.ts'
import { type FileContext, type FileMethod, fileMethods } from './file-methods.ts'
import { GuardedFiles } from './guarded-files.ts'

let root: string
let guard: GuardedFiles
let handles: files.FileHandles
const at = (name: string) => `${root}/${name}`
const uri = (name: string) => fromPosixPath(at(name))

const ENTRIES = { w: 'write', 'w/secret': 'deny', 'w/sub': 'read', 'w/root': 'write', out: 'read' }
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync('/var/tmp/waldo-guard-'))
  for (const name of ['w/dir', 'w/.git', 'w/secret', 'w/sub', 'w/root', 'w/x.env', 'out', 'hidden']) {
    fs.mkdirSync(at(name), { recursive: true })
    if (name !== 'w/root') fs.writeFileSync(at(`${name}/f`), `text of ${name}`)
    fs.symlinkSync(at(name), at(`w/to-${name.replace('w/', '')}`))
  }
  const entries = Object.entries(ENTRIES).map(([name, access]) => ({ path: { type: 'path', path: uri(name) }, access }))
  const pattern = { path: { type: 'glob_pattern', pattern: at('w/**/*.env') }, access: 'deny' }
  const sandbox = {
    permissions: {
      type: 'managed',
      file_system: { type: 'restricted', entries: [...entries, pattern] },
      network: 'restricted',
    },
    windowsSandboxLevel: 'disabled',
  }
  const { sandbox: intent } = methods['fs/readFile'].params({ path: uri('w'), sandbox }) as Params<'fs/readFile'>
  guard = new GuardedFiles(bindPolicy(intent!, new ThisHost(), { cwd: undefined }).files!)
  handles = new files.FileHandles()
})
afterEach(() => {
  handles.closeAll()
  fs.rmSync(root, { recursive: true })
})

/** What a call says: its answer, or the kind of its error. */
async function call(method: FileMethod, params: object): Promise<unknown> {
  const context: FileContext = {
    files,
    handles,
    search: () => require('@waldo/local/search'),
    signal: new AbortController().signal,
    answers: { within: (_, make) => make() },
    isSlow: () => false,
  }
  const act = fileMethods[method] as (params: Params<FileMethod>, context: FileContext) => unknown
  try {
    const decoded = methods[method].params(params) as Params<FileMethod>
    const result = await guard.call(method, decoded, (safe, options) => act(safe, { ...context, ...options }))
    return result instanceof EncodedResult ? Buffer.from(result.bytes).toString() : result
  } catch (error) {
    if (!ExecError.is(error)) throw error
    assert.doesNotMatch(error.message, /\/proc\/self/)
    return error.message.startsWith('Read-only') ? 'READ_ONLY' : error.code
  }
}

/** What each may be used for. */
const READABLE = ['w/dir', 'w/.git', 'w/sub', 'out', 'w/to-.git', 'w/to-sub', 'w/to-out', 'w/to-dir']
const WRITABLE = ['w/dir', 'w/to-dir', 'w/root', 'w/to-root']
const DENIED: Record<string, string> = { 'w/secret': 'FILE_DENIED', 'w/x.env': 'FILE_DENIED', hidden: 'FILE_NOT_FOUND' }
for (const name of Object.keys(DENIED)) DENIED[`w/to-${name.replace('w/', '')}`] = DENIED[name]!
const READ_ONLY = READABLE.filter((name) => !WRITABLE.includes(name))

const options = { maxDepth: 9, maxDirectories: 9, maxEntries: 9, followDirectorySymlinks: false }
const READS: Record<string, (name: string) => [FileMethod, object]> = {
  'be read': (name) => ['fs/readFile', { path: uri(`${name}/f`) }],
  'be opened': (name) => ['fs/open', { path: uri(`${name}/f`), handleId: name }],
  'be looked at': (name) => ['fs/getMetadata', { path: uri(`${name}/f`) }],
  'be found': (name) => ['fs/canonicalize', { path: uri(`${name}/f`) }],
  'be listed': (name) => ['fs/readDirectory', { path: uri(name) }],
  'be walked': (name) => ['fs/walk', { path: uri(name), options }],
  'be searched': (name) => ['fs/grep', { path: uri(name), pattern: 'text', hidden: true }],
  'be globbed': (name) => ['fs/glob', { path: uri(name), globs: ['**'] }],
  'be copied': (name) => ['fs/copy', { sourcePath: uri(`${name}/f`), destinationPath: uri('w/new'), recursive: false }],
}
const content = { dataBase64: 'eA==' }
const WRITES: Record<string, (name: string) => [FileMethod, object]> = {
  'be written': (name) => ['fs/writeFile', { path: uri(`${name}/new`), ...content }],
  'be appended to': (name) => ['fs/append', { path: uri(`${name}/new`), ...content }],
  'be made': (name) => ['fs/createDirectory', { path: uri(`${name}/made/deep`) }],
  'be replaced': (name) => ['fs/open', { path: uri(`${name}/new`), handleId: name, mode: 'replace' }],
  'be given a mode': (name) => ['fs/setMode', { path: uri(name), mode: 0o700 }],
  'be copied to': (name) => [
    'fs/copy',
    { sourcePath: uri('out/f'), destinationPath: uri(`${name}/new`), recursive: false },
  ],
  'be moved to': (name) => ['fs/rename', { sourcePath: uri('w/dir/f'), destinationPath: uri(`${name}/f`) }],
  'be removed': (name) => ['fs/remove', { path: uri(`${name}/no`) }],
}

describe('files that are kept to rules', () => {
  for (const [what, ask] of Object.entries(READS)) {
    test(`can ${what} where they may be read, also through links, and nowhere else`, async () => {
      for (const name of READABLE)
        assert.equal(typeof (await call(...ask(name))) === 'string', what === 'be read', name)
      for (const [name, code] of Object.entries(DENIED)) assert.equal(await call(...ask(name)), code, name)
    })
  }

  for (const [what, ask] of Object.entries(WRITES)) {
    test(`can ${what} where they may be written, also through links, and nowhere else`, async () => {
      const before = snapshot()
      for (const name of READ_ONLY) assert.equal(await call(...ask(name)), 'READ_ONLY', name)
      for (const name of Object.keys(DENIED)) {
        const code = name.endsWith('hidden') ? 'READ_ONLY' : 'FILE_DENIED'
        assert.equal(await call(...ask(name)), code, name)
      }
      assert.deepEqual(snapshot(), before)
      for (const name of WRITABLE) {
        if (!fs.existsSync(at('w/dir/f'))) fs.writeFileSync(at('w/dir/f'), '')
        assert.equal(typeof (await call(...ask(name))), 'object', name)
      }
    })
  }

  test('are only what they are called', async () => {
    const before = snapshot()
    const names = [
      'w//.codex/x',
      'w/./.codex/x',
      'w/dir/../.codex/x',
      'w/no/../.codex/x',
      'w//secret/f',
      'w/dir/../x.env/f',
    ]
    for (const spelled of names.flatMap((name) => [fromPosixPath(at(name)), `file://${at(name)}`])) {
      for (const followSymlinks of [true, false]) {
        const given = { path: spelled, followSymlinks }
        for (const method of ['fs/createDirectory', 'fs/writeFile', 'fs/readFile', 'fs/append'] as const) {
          assert.equal(typeof (await call(method, { ...given, ...content })), 'string', `${method} ${spelled}`)
        }
      }
      const moved = { sourcePath: uri('w/dir/f'), destinationPath: spelled, recursive: true }
      for (const method of ['fs/copy', 'fs/rename'] as const) assert.equal(typeof (await call(method, moved)), 'string')
      assert.notDeepEqual(await call('fs/remove', { path: spelled, force: false }), {})
    }
    assert.deepEqual(snapshot(), before)
  })

  test('are left out of what is listed', async () => {
    const { entries } = (await call('fs/readDirectory', { path: uri('w') })) as { entries: { fileName: string }[] }
    const names = entries.map(({ fileName }) => fileName).filter((name) => !name.startsWith('to-'))
    assert.deepEqual(names.sort(), ['.git', 'dir', 'root', 'sub'])
    const grep = (await call('fs/grep', { path: uri('w/to-dir'), pattern: 'text' })) as { files: { path: string }[] }
    assert.deepEqual(
      grep.files.map(({ path }) => path),
      [uri('w/to-dir/f')],
    )
  })

  test('do not come along where a directory is copied, moved or removed', async () => {
    fs.mkdirSync(at('w/tree/deep'), { recursive: true })
    fs.writeFileSync(at('w/tree/deep/y.env'), 'denied')
    const tree = { sourcePath: uri('w/tree'), destinationPath: uri('w/moved'), recursive: true }
    for (const method of ['fs/copy', 'fs/rename'] as const) assert.equal(await call(method, tree), 'FILE_DENIED')
    assert.equal(await call('fs/remove', { path: uri('w/tree') }), 'FILE_DENIED')
    assert.equal(fs.readFileSync(at('w/tree/deep/y.env'), 'utf8'), 'denied')
    // A name that is free in one place is protected in another.
    fs.mkdirSync(at('w/free/.git/hooks'), { recursive: true })
    const free = { sourcePath: uri('w/free'), destinationPath: uri('w/root'), recursive: true }
    for (const method of ['fs/copy', 'fs/rename'] as const) assert.equal(await call(method, free), 'READ_ONLY')
    assert.deepEqual(fs.readdirSync(at('w/root')), [])
  })
})

function snapshot(directory = root): string[] {
  return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = `${directory}/${entry.name}`
    if (entry.isDirectory()) return [path, ...snapshot(path)]
    return [entry.isFile() ? `${path} ${fs.readFileSync(path, 'utf8')}` : path]
  })
}
