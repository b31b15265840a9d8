import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import * as files from '@waldo/local/files'
import { fromPosixPath, methods, type Params } from '@waldo/protocol'
import { FileRules } from '@waldo/sandbox'
import { ThisHost } from '@waldo/sandbox/linux'
import { EncodedResult } from '../encoded-result.ts'
import { type FileContext, type FileMethod, fileMethods } from './file-methods.ts'
import { GuardedFiles } from './guarded-files.ts'

/** Makes a link lead to one thing after the other, without a moment in between. */
const SWAP = `
import os, sys
link, *targets = sys.argv[1:]
print('swapping', flush=True)
while True:
    for target in targets:
        os.symlink(target, link + '.new')
        os.replace(link + '.new', link)`
/** So often it has to go well, and so often not. */
const TIMES = 40
const MAX_ROUNDS = 50_000

describe('a link that is changed all the time', () => {
  const root = fs.realpathSync(fs.mkdtempSync('/var/tmp/waldo-links-'))
  const uri = (name: string) => fromPosixPath(`${root}/${name}`)
  const swappers: Bun.Subprocess[] = []
  const handles = new files.FileHandles()
  let guard: GuardedFiles

  before(async () => {
    for (const name of ['w/dir', 'hidden']) {
      fs.mkdirSync(`${root}/${name}`, { recursive: true })
      fs.writeFileSync(`${root}/${name}/f`, `text of ${name}`, { mode: 0o640 })
    }
    const rule = { ...new ThisHost().resolve(`${root}/w`), access: 'write', origin: 'w', protects: ['.git'] } as const
    guard = new GuardedFiles(new FileRules({ rules: [rule], globs: [], globDepth: undefined }))
    for (const [link, ...targets] of [
      ['w/swap', 'dir', '../hidden', '.git'],
      ['w/file', 'dir/f', '../hidden/f', '.git'],
    ] as const) {
      const child = Bun.spawn(['python3', '-c', SWAP, `${root}/${link}`, ...targets], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      swappers.push(child)
      await child.stdout.getReader().read()
    }
  })
  after(async () => {
    handles.closeAll()
    for (const child of swappers) {
      child.kill('SIGKILL')
      await child.exited
    }
    fs.rmSync(root, { recursive: true })
  })

  /** The text of a file, if there is one in the answer; undefined after an error. */
  async function call(method: FileMethod, params: object): Promise<string | undefined> {
    const context: FileContext = {
      files,
      handles,
      search: () => assert.fail('nothing is searched'),
      signal: new AbortController().signal,
      answers: { within: (_, make) => make() },
      isSlow: () => false,
    }
    const act = fileMethods[method] as (params: Params<FileMethod>, context: FileContext) => unknown
    try {
      const decoded = methods[method].params(params) as Params<FileMethod>
      const result = await guard.call(method, decoded, (safe, options) => act(safe, { ...context, ...options }))
      return result instanceof EncodedResult ? Buffer.from(result.bytes).toString() : ''
    } catch (error) {
      if (!ExecError.is(error)) throw error
      return undefined
    }
  }

  /** Until the link has led everywhere; fails if the call ever led to what is hidden. */
  async function repeat(act: (round: number) => Promise<string | undefined>): Promise<void> {
    let [went, failed] = [0, 0]
    for (let round = 0; round < MAX_ROUNDS && (went < TIMES || failed < TIMES); round++) {
      const text = await act(round)
      if (text === undefined) failed++
      else went++
      assert.doesNotMatch(text ?? '', /hidden/)
    }
    assert.ok(went >= TIMES && failed >= TIMES, `it went well ${went} times, and ${failed} times not`)
    const stats = fs.lstatSync(`${root}/hidden/f`)
    assert.deepEqual(
      [fs.readdirSync(`${root}/hidden`), fs.readFileSync(`${root}/hidden/f`, 'utf8'), stats.mode & 0o777],
      [['f'], 'text of hidden', 0o640],
    )
    assert.ok(!fs.existsSync(`${root}/w/.git`), 'a protected name was made')
  }

  const content = { dataBase64: 'eA==' }
  test('never leads a reader to what is hidden', async () => {
    await repeat(() => call('fs/readFile', { path: uri('w/swap/f') }))
    await repeat(() => call('fs/readFile', { path: uri('w/file') }))
    await repeat(async (round) => {
      const handleId = `h${round}`
      if ((await call('fs/open', { path: uri('w/swap/f'), handleId })) === undefined) return undefined
      const text = await call('fs/readBlock', { handleId, offset: 0, len: 99 })
      await call('fs/close', { handleId })
      return text
    })
    await repeat(async () => {
      const copy = { sourcePath: uri('w/swap/f'), destinationPath: uri('w/copy'), recursive: false }
      return (await call('fs/copy', copy)) === undefined ? undefined : fs.readFileSync(`${root}/w/copy`, 'utf8')
    })
  })

  test('never leads a writer out, or to a protected name', async () => {
    const writes: [FileMethod, (round: number) => object][] = [
      ['fs/writeFile', () => ({ path: uri('w/swap/new'), ...content })],
      ['fs/writeFile', () => ({ path: uri('w/file'), ...content })],
      ['fs/append', () => ({ path: uri('w/swap/new'), ...content })],
      ['fs/setMode', () => ({ path: uri('w/file'), mode: 0o600 })],
      ['fs/createDirectory', (round) => ({ path: uri(`w/swap/${round}/deep`) })],
      ['fs/remove', () => ({ path: uri('w/swap/f') })],
      ['fs/copy', () => ({ sourcePath: uri('w/copied'), destinationPath: uri('w/swap/to'), recursive: false })],
      ['fs/rename', () => ({ sourcePath: uri('w/swap/to'), destinationPath: uri('w/moved') })],
    ]
    fs.writeFileSync(`${root}/w/copied`, 'text')
    for (const [method, params] of writes) {
      await repeat(async (round) => {
        if (method === 'fs/rename')
          await call('fs/copy', {
            ...params(round),
            sourcePath: uri('w/copied'),
            destinationPath: uri('w/dir/to'),
            recursive: false,
          })
        if (method === 'fs/remove') fs.writeFileSync(`${root}/w/dir/f`, 'text of w/dir')
        return call(method, params(round))
      })
    }
  })
})
