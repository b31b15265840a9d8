import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { sandboxProfiles } from '@waldo/environment'
import { applyPatchText } from '@waldo/exec'
import { type PathUri, pathUri } from '@waldo/protocol'
import { local } from '@waldo/sdk'
import { RawClient, startServer, type TestServer } from '@waldo/testkit'

const FIXTURE = join(import.meta.dir, 'fixtures/caseless-mount.ts')
const canMount = process.getuid?.() === 0 && existsSync('/dev/fuse')

/** The kernel knows that two spellings are one file, or it does not. */
for (const options of [[], ['--node-per-spelling']]) {
  describe(`a file system that ignores case ${options.join('')}`, {
    skip: !canMount && 'needs root and /dev/fuse',
  }, () => {
    let root: string
    let fuse: Bun.Subprocess<'ignore', 'pipe', 'inherit'>
    let server: TestServer
    let client: RawClient
    before(async () => {
      root = mkdtempSync(join(tmpdir(), 'waldo-caseless-'))
      mkdirSync(at(''))
      fuse = Bun.spawn([process.execPath, FIXTURE, at(''), ...options], { stdio: ['ignore', 'pipe', 'inherit'] })
      await fuse.stdout.getReader().read()
      server = await startServer()
      client = await RawClient.connect(server.url)
    })
    after(async () => {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      fuse.kill('SIGKILL')
      Bun.spawnSync(['umount', '-l', at('')])
      rmSync(root, { recursive: true })
    })

    const at = (name: string) => join(root, 'drive', name)
    const uri = (name: string): PathUri => pathUri(pathToFileURL(at(name)).href)
    const text = (name: string) => readFileSync(at(name), 'utf8')
    const names = () => readdirSync(at('')).sort()
    const empty = () => {
      for (const name of names()) rmSync(at(name), { recursive: true })
    }
    const write = (name: string, content: string, more = {}) =>
      client.call('fs/writeFile', { path: uri(name), dataBase64: Buffer.from(content).toString('base64'), ...more })

    test('shows a file by every spelling, and writes to it by every other', async () => {
      empty()
      await write('File', 'old')
      await write('FILE', 'new')
      const { dataBase64 } = await client.call('fs/readFile', { path: uri('fILE') })
      assert.equal(Buffer.from(dataBase64, 'base64').toString(), 'new')
      await client.call('fs/append', { path: uri('file'), dataBase64: Buffer.from('er').toString('base64') })
      assert.equal(text('File'), 'newer')
      await client.call('fs/open', { handleId: 'w', path: uri('fiLE'), mode: 'replace' })
      await client.call('fs/writeBlock', { handleId: 'w', offset: 0, chunk: Buffer.from('x').toString('base64') })
      await client.call('fs/close', { handleId: 'w' })
      assert.equal(text('File'), 'x')
      // Nothing is left beside it, under whatever name.
      assert.deepEqual(
        names().map((name) => name.toLowerCase()),
        ['file'],
      )
      await client.call('fs/remove', { path: uri('FILE'), recursive: false, force: false })
      assert.deepEqual(names(), [])
    })

    test('loses nothing when something is copied or renamed to another spelling of itself', async () => {
      empty()
      await write('a', 'content')
      mkdirSync(at('Directory'))
      writeFileSync(at('Directory/inside'), 'inside')
      const both = (source: string, destination: string) => ({
        sourcePath: uri(source),
        destinationPath: uri(destination),
      })
      await client.call('fs/copy', { ...both('a', 'A'), recursive: false })
      await client.failure('fs/copy', { ...both('Directory', 'DIRECTORY'), recursive: true })
      await client.failure('fs/copy', { ...both('Directory', 'DIRECTORY/below'), recursive: true })
      await client.failure('fs/rename', { ...both('a', 'A'), overwrite: false })
      await client.call('fs/rename', { ...both('a', 'A'), overwrite: true })
      await client.call('fs/rename', { ...both('Directory', 'dIRECTORY'), overwrite: true })
      assert.equal(text('a'), 'content')
      assert.equal(text('directory/inside'), 'inside')
      assert.equal(names().length, 2)
    })

    test('takes no tree in which two names would become one', async () => {
      for (const [kind, make] of [
        ['files', (path: string) => writeFileSync(path, path)],
        ['directories', (path: string) => mkdirSync(path)],
      ] as const) {
        empty()
        const source = join(root, kind)
        for (const name of ['', 'below']) mkdirSync(join(source, name))
        for (const name of ['below/name', 'below/NAME']) make(join(source, name))
        const copied = { sourcePath: pathToFileURL(source).href, destinationPath: uri('copy'), recursive: true }
        assert.match((await client.failure('fs/copy', copied)).message, /two names of the source would be one there/)
      }
    })

    test('loses no file to a patch that spells it in two ways', async () => {
      await using environment = local()
      const options = { files: environment.files, cwd: uri('') }
      for (const [sections, expected] of [
        ['*** Update File: a\n*** Move to: A\n@@\n-old\n+new', /are one file here/],
        ['*** Delete File: A\n*** Add File: a\n+new', /are one file here/],
        ['*** Update File: d/a\n*** Move to: D/a\n@@\n-old\n+new', /are one file here/],
      ] as const) {
        empty()
        mkdirSync(at('d'))
        for (const name of ['a', 'd/a']) writeFileSync(at(name), 'old\n')
        await assert.rejects(applyPatchText(`*** Begin Patch\n${sections}\n*** End Patch`, options), expected)
        for (const name of ['a', 'd/a']) assert.equal(text(name), 'old\n')
      }
    })

    test('is no place for a sandbox that protects or denies something there', async () => {
      empty()
      const sandbox = sandboxProfiles.workspaceWrite({ roots: [uri('')] })
      const start = { processId: 'p', argv: ['/bin/true'], cwd: uri(''), env: {}, tty: false, arg0: null }
      // Whether there is something to protect, or it has to be kept from being made.
      for (const [made, shown] of [
        ['.git', /\.git is also found as .*\.GIT/],
        ['nothing', /is also found as .*\.(?:GIT|AGENTS)/],
      ] as const) {
        empty()
        mkdirSync(at(made))
        const refused = await client.failure('process/start', { ...start, sandbox })
        assert.match(refused.message, shown)
        assert.deepEqual(names(), [made], 'nothing is left that was made to be mounted on')
      }
    })

    test('keeps what is protected from file calls, in whatever case', async () => {
      empty()
      const sandbox = sandboxProfiles.workspaceWrite({ roots: [uri('')] })
      for (const exists of [false, true]) {
        if (exists) mkdirSync(at('.git'))
        for (const name of ['.git', '.GIT', '.Git', '.CODEX']) {
          await client.failure('fs/createDirectory', { path: uri(name), recursive: true, sandbox })
          await client.failure('fs/writeFile', { path: uri(`${name}/config`), dataBase64: '', sandbox })
        }
        assert.deepEqual(names(), exists ? ['.git'] : [])
      }
      assert.deepEqual(readdirSync(at('.git')), [])
    })

    test('shows nothing that is denied, by whatever spelling', async () => {
      empty()
      for (const name of ['a.env', 'maß', 'free']) writeFileSync(at(name), name)
      mkdirSync(at('sub'))
      writeFileSync(at('sub/b.env'), 'b')
      const denying = (deny: object) => ({
        ...sandboxProfiles.workspaceWrite({ roots: [uri('')] }),
        permissions: {
          type: 'managed',
          file_system: {
            type: 'restricted',
            entries: [
              { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
              { path: deny, access: 'deny' },
            ],
          },
          network: 'restricted',
        },
      })
      const globs = denying({ type: 'glob_pattern', pattern: at('**/*.env') })
      for (const name of ['a.env', 'A.ENV', 'a.Env', 'sub/b.env', 'SUB/B.env', 'sub/B.ENV']) {
        await client.failure('fs/readFile', { path: uri(name), sandbox: globs })
      }
      assert.ok(await client.call('fs/readFile', { path: uri('FREE'), sandbox: globs }))
      const named = denying({ type: 'path', path: uri('maß') })
      for (const name of ['maß', 'MAß', 'Maß']) {
        const { message } = await client.failure('fs/readFile', { path: uri(name), sandbox: named })
        assert.match(message, /is also found as/)
      }
    })

    test('can be worked on by commands that may only read, or do everything', async () => {
      empty()
      writeFileSync(at('seen'), 'seen\n')
      const { stdout } = await client.run('cat SEEN; echo x > no; true', {
        cwd: uri(''),
        sandbox: sandboxProfiles.readOnly(),
      })
      assert.equal(stdout, 'seen\n')
      assert.deepEqual(names(), ['seen'])
      assert.equal((await client.run('cat SEEN', { cwd: uri('') })).stdout, 'seen\n')
    })
  })
}
