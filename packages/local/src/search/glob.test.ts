import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import { found, globRequest, TestTree } from './fixtures/tree.ts'
import { type GlobRequest, glob } from './glob.ts'
import { walk } from './walk.ts'

const live = new AbortController().signal

describe('globs', () => {
  const files = {
    'a.ts': '',
    'b.js': '',
    'src/a.ts': '',
    'src/deep/c.ts': '',
    'src/deep/d.js': '',
    'src/déjà.ts': '',
    'src/😀.ts': '',
    '.env': '',
    '.github/ci.yml': '',
    '.github/.secret': '',
    'lib/.hidden/x.ts': '',
    'lib/[x].ts': '',
  }
  const cases: { globs: string[]; expected: string[]; options?: Partial<GlobRequest> }[] = [
    { globs: ['*.js'], expected: ['b.js', 'src/deep/d.js'] },
    { globs: ['/*.ts'], expected: ['a.ts'] },
    { globs: ['./*.ts'], expected: ['a.ts'] },
    { globs: ['src/*.ts'], expected: ['src/a.ts', 'src/déjà.ts', 'src/😀.ts'] },
    { globs: ['src/**/*.js'], expected: ['src/deep/d.js'] },
    { globs: ['**/a.ts'], expected: ['a.ts', 'src/a.ts'] },
    { globs: ['src/**'], expected: ['src/a.ts', 'src/deep/c.ts', 'src/deep/d.js', 'src/déjà.ts', 'src/😀.ts'] },
    { globs: ['src'], expected: [] },
    { globs: ['src'], expected: ['src'], options: { kind: 'directory' } },
    { globs: ['deep/'], expected: ['src/deep'], options: { kind: 'any' } },
    { globs: ['?.ts'], expected: ['a.ts', 'src/a.ts', 'src/deep/c.ts', 'src/😀.ts'] },
    { globs: ['d[é-ê]j?.ts'], expected: ['src/déjà.ts'] },
    { globs: ['[!a-c].*'], expected: ['src/deep/d.js', 'src/😀.ts'] },
    { globs: ['{a,c}.{ts,js}'], expected: ['a.ts', 'src/a.ts', 'src/deep/c.ts'] },
    { globs: ['src/{deep/{c,x},a}.ts'], expected: ['src/a.ts', 'src/deep/c.ts'] },
    { globs: ['\\[x\\].ts'], expected: ['lib/[x].ts'] },
    { globs: ['*.ts', '!src'], expected: ['a.ts', 'lib/[x].ts'] },
    { globs: ['!*.ts'], expected: ['b.js', 'src/deep/d.js'] },
    { globs: ['!src', 'src/a.ts'], expected: [] },
    { globs: ['!src/*', 'src/a.ts'], expected: ['src/a.ts'] },
    { globs: ['*.js', '!src/**', 'd.js'], expected: ['b.js'] },
    { globs: ['*.yml'], expected: [] },
    { globs: ['.github/**'], expected: ['.github/ci.yml'] },
    { globs: ['.github/**'], expected: ['.github/.secret', '.github/ci.yml'], options: { hidden: true } },
    { globs: ['**/.hidden/*'], expected: ['lib/.hidden/x.ts'] },
    { globs: ['.*'], expected: ['.env'] },
    { globs: ['x.ts'], expected: ['lib/.hidden/x.ts'], options: { hidden: true } },
    { globs: ['nothing'], expected: [] },
  ]
  for (const { globs, expected, options } of cases) {
    test(`${JSON.stringify(globs)} ${options ? JSON.stringify(options) : ''} finds ${expected.join(' ') || 'nothing'}`, async () => {
      using tree = new TestTree(files)
      assert.deepEqual(await found(tree, { globs, ...options }), expected)
    })
  }

  test('that cannot be read are refused', async () => {
    using tree = new TestTree()
    const many = '{a,b}'.repeat(9)
    for (const globs of [['[a'], ['a\\'], [''], ['!'], ['a//b'], [many], new Array(65).fill('a'), ['a'.repeat(1025)]]) {
      await assert.rejects(found(tree, { globs }), (error) => ExecError.is(error, 'FILE_INVALID'))
    }
  })

  test('that would take others for ever are answered', async () => {
    using tree = new TestTree({ ['a'.repeat(250)]: '', '.gitignore': `${'a*'.repeat(100)}b\n` })
    assert.deepEqual(await found(tree, { globs: [`${'*a'.repeat(100)}b`, `${'**/'.repeat(100)}b`] }), [])
    assert.equal((await found(tree)).length, 1)
  })
})

describe('a listing', () => {
  test('is in the order of a walk, byte by byte, and pages of any size give the same', async () => {
    const paths = ['a/b', 'a-b', 'a', 'a.b', 'A', 'é', 'z', '\ue000', '😀', 'a/b/c'].map((path) => `${path}/f`)
    using tree = new TestTree(Object.fromEntries(paths.map((path) => [path, ''])))
    const all = await found(tree, { kind: 'any' })
    const order = (path: string) => Buffer.from(path.replaceAll('/', '\0'))
    assert.deepEqual(
      all,
      all.toSorted((a, b) => Buffer.compare(order(a), order(b))),
    )
    assert.equal(all.length, 20)
    for (const limit of [1, 2, 7]) {
      const paged: unknown[] = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const page = await glob(globRequest(tree.root, { kind: 'any', limit, ...(cursor && { cursor }) }), live)
        paged.push(...page.matches.map(({ path }) => (path as string).slice(tree.root.length + 1)))
        cursor = page.cursor
      }
      assert.deepEqual(paged, all)
    }
  })

  test('goes on where it was, when what it stopped at is gone or has become something else', async () => {
    using tree = new TestTree({ 'a/x': '', 'b/x': '', 'b/y': '', c: '' })
    const { matches, cursor } = await glob(globRequest(tree.root, { limit: 2 }), live)
    assert.equal(matches.length, 2)
    rmSync(join(tree.root, 'b'), { recursive: true })
    writeFileSync(join(tree.root, 'b'), '')
    writeFileSync(join(tree.root, 'a/late'), '')
    assert.deepEqual(await found(tree, { cursor: cursor! }), ['c'])
  })

  test('names symlinks and does not follow them, and knows no pipes', async () => {
    using tree = new TestTree({ 'd/f': '', loop: { link: '.' }, 'd/up': { link: '..' }, broken: { link: 'nowhere' } })
    assert.equal(Bun.spawnSync(['mkfifo', join(tree.root, 'pipe')]).exitCode, 0)
    const { matches } = await glob(globRequest(tree.root, { kind: 'any' }), live)
    assert.deepEqual(
      matches.map(({ path, kind }) => [(path as string).slice(tree.root.length + 1), kind]),
      [
        ['broken', 'symlink'],
        ['d', 'directory'],
        ['d/f', 'file'],
        ['d/up', 'symlink'],
        ['loop', 'symlink'],
      ],
    )
    assert.deepEqual(await found(tree, { kind: 'directory' }), ['d'])
    const through = await glob(globRequest(join(tree.root, 'loop'), { globs: ['f'] }), live)
    assert.deepEqual(through.matches, [{ path: join(tree.root, 'loop/d/f'), kind: 'file' }])
  })

  test('goes on without a directory that goes away while it is on its way there', () => {
    using tree = new TestTree({ 'a/x': '', 'b/x': '', c: '' })
    const events = []
    for (const event of walk(globRequest(tree.root), undefined)) {
      if (!event) continue
      events.push(event.kind === 'error' ? event : event.relative)
      if (event.kind === 'directory' && event.relative === 'a') rmSync(join(tree.root, 'b'), { recursive: true })
    }
    const gone = { kind: 'error', path: `${tree.root}/b`, message: 'No such file or directory (os error 2)' }
    assert.deepEqual(events, ['a', 'a/x', 'b', gone, 'c'])
  })

  test('keeps names that are not UTF-8, and names with line ends', async () => {
    using tree = new TestTree({ 'new\nline': '' })
    const odd = Buffer.concat([Buffer.from(`${tree.root}/d`), Buffer.from([0xff])])
    mkdirSync(odd)
    const file = Buffer.concat([odd, Buffer.from('/é'), Buffer.from([0xfe])])
    writeFileSync(file, '')
    const { matches } = await glob(globRequest(tree.root, { kind: 'any' }), live)
    assert.deepEqual(matches, [
      { path: odd, kind: 'directory' },
      { path: file, kind: 'file' },
      { path: `${tree.root}/new\nline`, kind: 'file' },
    ])
    const below = await glob({ ...globRequest(''), root: odd }, live)
    assert.deepEqual(below.matches, [{ path: file, kind: 'file' }])
  })

  test('of a file is that file, if its own name matches', async () => {
    using tree = new TestTree({ '.gitignore': '*', '.a.ts': '' })
    const root = join(tree.root, '.a.ts')
    const match = { path: root, kind: 'file' }
    assert.deepEqual((await glob(globRequest(root), live)).matches, [match])
    assert.deepEqual((await glob(globRequest(root, { globs: ['*.ts'] }), live)).matches, [match])
    assert.deepEqual((await glob(globRequest(root, { globs: ['*.js'] }), live)).matches, [])
  })

  test('goes on without a directory that it may not read', async () => {
    using tree = new TestTree({ 'a/x': '', b: '' })
    chmodSync(join(tree.root, 'a'), 0)
    chmodSync(tree.root, 0o755)
    const isRoot = process.geteuid!() === 0
    // Root may read everything.
    if (isRoot) process.seteuid!('nobody')
    try {
      const { matches, errors } = await glob(globRequest(tree.root), live)
      assert.deepEqual(matches, [{ path: join(tree.root, 'b'), kind: 'file' }])
      assert.deepEqual(errors, [{ path: join(tree.root, 'a'), message: 'Permission denied (os error 13)' }])
    } finally {
      if (isRoot) process.seteuid!('root')
      chmodSync(join(tree.root, 'a'), 0o700)
    }
  })
})

describe('a listing fails', () => {
  test('if there is nothing where it should begin', async () => {
    using tree = new TestTree({ a: '' })
    await assert.rejects(glob(globRequest(`${tree.root}/b`), live), (error) => ExecError.is(error, 'FILE_NOT_FOUND'))
    await assert.rejects(glob(globRequest('relative'), live), (error) => ExecError.is(error, 'FILE_INVALID'))
    await assert.rejects(glob(globRequest('/dev/null'), live), (error) => ExecError.is(error, 'FILE_INVALID'))
  })

  test('with a cursor or a limit that is none', async () => {
    using tree = new TestTree({ a: '' })
    const bad = [
      '',
      '!',
      'AAAA',
      Buffer.from('0:../x').toString('base64url'),
      Buffer.from('0:a\0').toString('base64url'),
    ]
    for (const cursor of [...bad, 'x'.repeat(100_000)]) {
      await assert.rejects(found(tree, { cursor }), (error) => ExecError.is(error, 'FILE_INVALID'))
    }
    for (const limit of [0, -1, 1.5, Number.NaN, 10_001]) {
      await assert.rejects(found(tree, { limit }), (error) => ExecError.is(error, 'FILE_INVALID'))
    }
  })

  test('when it is not wanted any more', async () => {
    using tree = new TestTree(Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`${i % 50}/${i}`, ''])))
    await assert.rejects(glob(globRequest(tree.root), AbortSignal.abort()), { name: 'AbortError' })
    const controller = new AbortController()
    const forever = (async () => {
      for (;;) await glob(globRequest(tree.root), controller.signal)
    })()
    setImmediate(() => controller.abort())
    await assert.rejects(forever, { name: 'AbortError' })
  })
})
