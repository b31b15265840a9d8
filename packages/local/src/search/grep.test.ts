import assert from 'node:assert/strict'
import { closeSync, ftruncateSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import { grepRequest, pages, ripgrepForTests, shown, TestTree } from './fixtures/tree.ts'
import { type GrepAnswer, type GrepRequest, grep } from './grep.ts'

const ripgrep = ripgrepForTests()
const live = new AbortController().signal
const MIB = 1024 * 1024

interface Case {
  readonly title: string
  readonly files: ConstructorParameters<typeof TestTree>[0]
  readonly options?: Partial<GrepRequest>
  readonly expected: readonly string[]
  readonly skipped?: GrepAnswer['skipped']
}

const long = 'x'.repeat(5000)
const cases: readonly Case[] = [
  {
    title: 'lines come in order of path and line, with the column of the first match in bytes',
    files: { 'b/f': 'é needle needle\nno\nneedle\n', 'a-b': 'needle', 'a/f': '\n\nneedle\n' },
    expected: ['a/f:3:1:needle', 'a-b:1:1:needle', 'b/f:1:4:é needle needle', 'b/f:3:1:needle'],
  },
  {
    title: 'line ends of both kinds are no part of the text, and the last may be missing',
    files: { crlf: 'one needle\r\nneedle', lf: 'one needle\nneedle\n' },
    options: { pattern: 'needle$' },
    expected: ['crlf:1:5:one needle', 'crlf:2:1:needle', 'lf:1:5:one needle', 'lf:2:1:needle'],
  },
  {
    title: 'an empty file has no lines, and behind the last line end there is none either',
    files: { empty: '', one: '\n', two: '\n\n', open: 'a' },
    options: { pattern: '^' },
    expected: ['one:1:1:', 'open:1:1:a', 'two:1:1:', 'two:2:1:'],
  },
  {
    title: 'context is what is there, also where it overlaps with other matches',
    files: { f: '1\n2\nneedle\n4\r\nneedle\n6', g: '\nneedle\n\n' },
    options: { before: 2, after: 3 },
    expected: ['f:3:1:needle <1|2><4|needle|6>', 'f:5:1:needle <needle|4><6>', 'g:2:1:needle <><>'],
  },
  {
    title: 'long lines are cut around the match',
    files: {
      far: `${long}needle${long}\n`,
      near: `${long.slice(0, 100)}needle${long}\n`,
      last: `${long}needle\n`,
      wide: `${'é'.repeat(1990)}needle\n`,
      wider: `${'😀'.repeat(1500)}needle${'😀'.repeat(1500)}\n`,
    },
    expected: [
      `far:1:5001:${long.slice(0, 500)}needle${long.slice(0, 1494)} truncated`,
      `last:1:5001:${long.slice(0, 500)}needle truncated`,
      `near:1:101:${long.slice(0, 100)}needle${long.slice(0, 1894)} truncated`,
      `wide:1:3981:${'é'.repeat(1990)}needle`,
      `wider:1:6001:${'😀'.repeat(250)}needle${'😀'.repeat(747)} truncated`,
    ],
  },
  {
    title: 'what is not UTF-8 is replaced in the text and marked',
    files: { f: Buffer.concat([Buffer.from([0xff]), Buffer.from(' needle\nok\nneedle\n')]) },
    expected: ['f:1:3:\ufffd needle lossy', 'f:3:1:needle'],
  },
  {
    title: 'files with a NUL in the beginning are binary, and one later is a character',
    files: {
      binary: 'needle\0',
      edge: `needle${' '.repeat(8185)}\0`,
      text: `needle${' '.repeat(8186)}\0\nneedle\0\n`,
      utf16: Buffer.from('\ufeffneedle', 'utf16le'),
    },
    options: { pattern: '^needle.?$' },
    expected: ['text:2:1:needle\0'],
    skipped: { binary: 3, tooLarge: 0 },
  },
  {
    title: 'a byte order mark is a character of the first line',
    files: { bom: '\ufeffneedle\nneedle\n' },
    options: { pattern: '^needle' },
    expected: ['bom:2:1:needle'],
  },
  {
    title: 'ignored and hidden files, repositories and links are left out, unless asked for',
    files: {
      '.git/x': 'needle',
      '.gitignore': 'out\n',
      '.hidden': 'needle',
      out: 'needle',
      in: 'needle',
      link: { link: 'in' },
      dir: { link: '.' },
    },
    expected: ['in:1:1:needle'],
  },
  {
    title: 'globs and hidden and ignored files can be chosen',
    files: { '.gitignore': 'a\n', '.hidden': 'needle', a: 'needle', b: 'needle' },
    options: { globs: ['!b'], hidden: true, respectIgnore: false },
    expected: ['.hidden:1:1:needle', 'a:1:1:needle'],
  },
  {
    title: 'names may contain anything',
    files: { '-e': 'needle', 'a:1:2:b': 'needle', 'new\nline': 'needle', ' ': 'needle', '--help': 'needle' },
    expected: [' :1:1:needle', '--help:1:1:needle', '-e:1:1:needle', 'a:1:2:b:1:1:needle', 'new\nline:1:1:needle'],
  },
  {
    title: 'a fixed pattern is a text, whatever it looks like',
    files: { f: '-e (a|b)*\n--\n' },
    options: { pattern: '-e (a|b)*', fixed: true },
    expected: ['f:1:1:-e (a|b)*'],
  },
]

for (const [engine, program] of [['ripgrep', ripgrep] as const, ['our own engine', undefined] as const]) {
  describe(`a search with ${engine}`, () => {
    for (const { title, files, options, expected, skipped } of cases) {
      test(title, async () => {
        using tree = new TestTree(files)
        const answer = await grep(grepRequest(tree.root, options), { ripgrep: program }, live)
        assert.deepEqual(shown(answer, tree.root), expected)
        assert.deepEqual(answer.errors, [])
        assert.deepEqual(answer.skipped, skipped ?? { binary: 0, tooLarge: 0 })
        assert.equal(answer.cursor, null)
      })
    }

    test('finds the same on pages of seven as at once, in thousands of matches', async () => {
      const lines = Array.from({ length: 500 }, (_, line) => (line % 3 === 0 ? `needle ${line}` : `${line}`)).join('\n')
      using tree = new TestTree(Object.fromEntries([...'abcdef'].map((name) => [`${name}/${name}`, lines])))
      writeFileSync(join(tree.root, 'b/binary'), '\0')
      const { pages: one, ...all } = await pages(grepRequest(tree.root, { before: 1, after: 1 }), program)
      const { pages: many, ...paged } = await pages(grepRequest(tree.root, { before: 1, after: 1, limit: 7 }), program)
      assert.equal(shown(all, tree.root).length, 6 * 167)
      assert.deepEqual(paged, all)
      assert.deepEqual(all.skipped, { binary: 1, tooLarge: 0 })
      assert.deepEqual([one, many], [1, 144])
    })

    test('goes on behind the last line that it told, when the files have changed', async () => {
      using tree = new TestTree({ a: 'needle 1\nneedle 2\nneedle 3\n', b: 'needle\n', c: 'needle\n' })
      const first = await grep(grepRequest(tree.root, { limit: 2 }), { ripgrep: program }, live)
      writeFileSync(join(tree.root, 'a'), 'needle 1\n\n\nneedle 4\n')
      rmSync(join(tree.root, 'b'))
      const rest = await grep(grepRequest(tree.root, { cursor: first.cursor! }), { ripgrep: program }, live)
      assert.deepEqual(shown(rest, tree.root), ['a:4:1:needle 4', 'c:1:1:needle'])
    })

    test('stops with a cursor when the answer has become large', async () => {
      const lines = `${'needle '.repeat(200)}\n`.repeat(1000)
      using tree = new TestTree(Object.fromEntries([...'abcdef'].map((name) => [name, lines])))
      const first = await grep(grepRequest(tree.root), { ripgrep: program }, live)
      assert.notEqual(first.cursor, null)
      const size = first.files.flatMap(({ matches }) => matches).reduce((sum, { text }) => sum + text.length, 0)
      assert.ok(size >= 4 * MIB - 100 && size < 4 * MIB + 10_000, `${size}`)
      const all = await pages(grepRequest(tree.root), program)
      assert.equal(shown(all, tree.root).length, 6000)
    })

    test('looks into a single file, hidden or ignored, and through a link that it was given', async () => {
      using tree = new TestTree({ '.gitignore': '*', '.a': 'needle\nneedle\n', link: { link: '.a' } })
      for (const name of ['.a', 'link']) {
        const root = join(tree.root, name)
        const all = await pages(grepRequest(root, { limit: 1 }), program)
        assert.deepEqual(shown(all, tree.root), [`${name}:1:1:needle`, `${name}:2:1:needle`])
        assert.deepEqual((await grep(grepRequest(root, { globs: ['*.ts'] }), { ripgrep: program }, live)).files, [])
      }
    })

    test('keeps names that are not UTF-8', async () => {
      using tree = new TestTree({ 'a.txt': 'needle', z: 'needle' })
      const odd = Array.from({ length: 70 }, (_, index) =>
        Buffer.concat([Buffer.from(`${tree.root}/m`), Buffer.from([0xff, 0x30 + index])]),
      )
      for (const path of odd) writeFileSync(path, 'one\nneedle\n')
      const { files, errors } = await grep(grepRequest(tree.root), { ripgrep: program }, live)
      assert.deepEqual(errors, [])
      assert.deepEqual(
        files.map(({ path }) => path),
        [join(tree.root, 'a.txt'), ...odd, join(tree.root, 'z')],
      )
      assert.equal(files[1]!.matches[0]!.line, 2)
    })

    test('does not open pipes, and leaves out what is too large', async () => {
      using tree = new TestTree({ a: 'needle' })
      assert.equal(Bun.spawnSync(['mkfifo', join(tree.root, 'pipe')]).exitCode, 0)
      const sparse = openSync(join(tree.root, 'sparse'), 'w')
      ftruncateSync(sparse, 1024 * MIB)
      closeSync(sparse)
      const answer = await grep(grepRequest(tree.root), { ripgrep: program }, live)
      assert.deepEqual(shown(answer, tree.root), ['a:1:1:needle'])
      assert.deepEqual(answer.skipped, { binary: 0, tooLarge: 1 })
      assert.deepEqual(answer.errors, [])
    })

    test('finds its way in a file of one line of ten megabytes', async () => {
      using tree = new TestTree({ f: `${'ab'.repeat(5 * MIB)}needle${'ab'.repeat(1000)}` })
      const { files } = await grep(grepRequest(tree.root), { ripgrep: program }, live)
      const { column, text, truncated } = files[0]!.matches[0]!
      assert.deepEqual([column, text.length, truncated], [10 * MIB + 1, 2000, true])
    })

    test('searches thousands of files', async () => {
      const files = Array.from({ length: 5000 }, (_, index) => [
        `${index % 100}/file-${index}`,
        index % 10 ? 'x' : 'needle',
      ])
      using tree = new TestTree(Object.fromEntries(files))
      const answer = await grep(grepRequest(tree.root), { ripgrep: program }, live)
      assert.equal(answer.files.length, 500)
      const paths = answer.files.map(({ path }) => (path as string).replaceAll('/', '\0'))
      assert.deepEqual(paths, paths.toSorted())
    })

    test('ends when it is not wanted any more', async () => {
      using tree = new TestTree(
        Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`${index}`, `${long}\n`])),
      )
      await assert.rejects(grep(grepRequest(tree.root), { ripgrep: program }, AbortSignal.abort()), {
        name: 'AbortError',
      })
      const controller = new AbortController()
      const forever = (async () => {
        for (;;) await grep(grepRequest(tree.root), { ripgrep: program }, controller.signal)
      })()
      setImmediate(() => setImmediate(() => controller.abort()))
      await assert.rejects(forever, { name: 'AbortError' })
    })

    test('refuses what it cannot do', async () => {
      using tree = new TestTree({ a: '' })
      const bad: Partial<GrepRequest>[] = [
        { limit: 0 },
        { before: 51 },
        { after: -1 },
        { cursor: '?' },
        { pattern: '(' },
      ]
      for (const options of bad) {
        const refused = grep(grepRequest(tree.root, options), { ripgrep: program }, live)
        await assert.rejects(refused, (error) => ExecError.is(error, 'FILE_INVALID'))
      }
      const missing = grep(grepRequest(join(tree.root, 'missing')), { ripgrep: program }, live)
      await assert.rejects(missing, (error) => ExecError.is(error, 'FILE_NOT_FOUND'))
    })
  })
}
