import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { found, globRequest, TestTree } from './fixtures/tree.ts'
import { glob } from './glob.ts'

const live = new AbortController().signal

function git(directory: string, ...args: string[]): Buffer {
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' }
  const { stdout, stderr, exitCode } = Bun.spawnSync(['git', '-C', directory, ...args], { env })
  assert.equal(exitCode, 0, stderr.toString())
  return stdout
}

describe('ignore files', () => {
  test('of git count without a repository, .ignore beats .gitignore, and both can be left out', async () => {
    using tree = new TestTree({
      '.gitignore': '*.log\nout/\n',
      '.ignore': '!keep.log\n',
      'a.log': '',
      'keep.log': '',
      'out/x': '',
    })
    assert.deepEqual(await found(tree), ['keep.log'])
    assert.deepEqual(await found(tree, { respectIgnore: false }), ['a.log', 'keep.log', 'out/x'])
  })

  test('above the root count up to the top of the repository, and those of an outer one do not', async () => {
    using tree = new TestTree({
      '.git/info/exclude': 'never\n',
      '.gitignore': '*\n',
      'inner/.git/info/exclude': 'excluded\n',
      'inner/.gitignore': '/sub/anchored\n*.tmp\n',
      'inner/sub/anchored': '',
      'inner/sub/deep/anchored': '',
      'inner/sub/excluded': '',
      'inner/sub/never': '',
      'inner/sub/x.tmp': '',
    })
    const { matches } = await glob(globRequest(join(tree.root, 'inner/sub')), live)
    const names = matches.map(({ path }) => (path as string).slice(tree.root.length))
    assert.deepEqual(names, ['/inner/sub/deep/anchored', '/inner/sub/never'])
    assert.deepEqual(await found(tree), [])
  })

  test('of a worktree come from the repository that it belongs to', async () => {
    using tree = new TestTree({ 'main/file': '' })
    git(tree.root, 'init', '-q', 'main')
    const main = join(tree.root, 'main')
    git(main, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first')
    git(main, 'worktree', 'add', '-q', '../other')
    appendFileSync(join(main, '.git/info/exclude'), 'secret\n')
    writeFileSync(join(tree.root, 'other/secret'), '')
    writeFileSync(join(tree.root, 'other/shown'), '')
    assert.deepEqual(await found(tree, { globs: ['other/*'] }), ['other/shown'])
  })

  test('that cannot be read are reported, and the search goes on', async () => {
    using tree = new TestTree({ '.gitignore': 'x'.repeat(300 * 1024), '.ignore': { link: 'elsewhere' }, a: '' })
    const { matches, errors } = await glob(globRequest(tree.root), live)
    assert.deepEqual(matches, [{ path: join(tree.root, 'a'), kind: 'file' }])
    assert.deepEqual(errors.map(({ path }) => path).sort(), [join(tree.root, '.gitignore'), join(tree.root, '.ignore')])
  })

  test('exclude what git says they exclude, whatever is in them', async () => {
    const name = fc.constantFrom('a', 'b', 'ab', 'a b', 'é', '.x', 'a]', 'b ', '#a', '!b')
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))
    const wild = fc.constantFrom(
      '*',
      '?',
      'a*',
      '*b',
      '[ab]',
      '[!a]',
      '[^a]*',
      '[[:alpha:]]',
      '[a',
      '[]a]',
      'a[]]',
      '\\a',
      '\\ ',
    )
    const segment = fc.oneof(
      name,
      name,
      wild,
      fc.constantFrom('**', '.*', '\\#a', '\\!b', 'b\\ ', '[a-b]b', '[[:foo:]]'),
    )
    const line = fc
      .tuple(
        fc.constantFrom('', '', '!', '/', '!/', '#'),
        fc.array(segment, { minLength: 1, maxLength: 3 }).map((segments) => segments.join('/')),
        fc.constantFrom('', '', '', '/', ' ', '  ', '\t', '\r', '/ ', '//'),
      )
      .map((parts) => parts.join(''))
    const rules = fc.array(line, { maxLength: 6 }).map((lines) => lines.join('\n'))
    const tree = fc.tuple(
      fc.array(path, { minLength: 1, maxLength: 25 }),
      fc.array(fc.tuple(fc.oneof(fc.constant('.'), path), rules), { maxLength: 4 }),
      rules,
    )
    await fc.assert(
      fc.asyncProperty(tree, async ([paths, ignoreFiles, exclude]) => {
        using tree = new TestTree()
        git(tree.root, 'init', '-q')
        writeFileSync(join(tree.root, '.git/info/exclude'), exclude)
        for (const path of paths) tryWrite(tree, path, '')
        for (const [directory, content] of ignoreFiles) tryWrite(tree, `${directory}/.gitignore`, content)
        const listed = git(tree.root, 'ls-files', '--others', '--exclude-standard', '-z').toString('latin1').split('\0')
        const expected = listed.slice(0, -1).map((path) => Buffer.from(path, 'latin1').toString())
        assert.deepEqual((await found(tree, { hidden: true })).sort(), expected.sort())
      }),
      { numRuns: 200 },
    )
  })
})

/** Where a path of the random tree is in the way of another, the first wins. */
function tryWrite(tree: TestTree, path: string, content: string): void {
  try {
    mkdirSync(join(tree.root, path, '..'), { recursive: true })
    writeFileSync(join(tree.root, path), content)
  } catch {}
}
