import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { RawClient, startServer, type TestServer } from '@waldo/testkit'

const FILES: Record<string, string> = {
  '.gitignore': 'build/\n*.log\n',
  'src/main.ts': 'import { answer } from "./answer"\n\nconsole.log(answer)\n',
  'src/answer.ts': 'export const answer = 42\n',
  'src/.hidden.ts': 'const answer = 0\n',
  'build/answer.js': 'answer\n',
  'run.log': 'answer\n',
  'blob.bin': 'answer\0answer\n',
}
let root: string
before(() => {
  root = mkdtempSync(join(tmpdir(), 'waldo-search-'))
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
})
after(() => rmSync(root, { recursive: true, force: true }))

const uri = () => pathToFileURL(root).href
const relative = (path: string) => fileURLToPath(path).slice(root.length + 1)

for (const [title, env] of [
  ['with ripgrep', {}],
  ['without ripgrep', { PATH: '/nonexistent' }],
] as const) {
  describe(title, () => {
    let server: TestServer
    let client: RawClient
    before(async () => {
      server = await startServer({ env })
      client = await RawClient.connect(server.url)
    })
    after(async () => {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    })
    const glob = async (more = {}) => {
      const { matches, cursor } = await client.call('fs/glob', { path: uri(), ...more })
      return { paths: matches.map(({ path }: { path: string }) => relative(path)), cursor }
    }
    const grep = async (more = {}) => {
      const answer = await client.call('fs/grep', { path: uri(), pattern: 'answer', ...more })
      const lines = answer.files.flatMap(
        ({ path, matches }: { path: string; matches: { line: number; column: number; text: string }[] }) =>
          matches.map(({ line, column, text }) => `${relative(path)}:${line}:${column}:${text}`),
      )
      return { ...answer, lines }
    }

    test('glob finds files that git would not ignore, in one order', async () => {
      assert.deepEqual((await glob()).paths, ['blob.bin', 'src/answer.ts', 'src/main.ts'])
      assert.deepEqual((await glob({ globs: ['**/*.ts'], hidden: true })).paths.length, 3)
      assert.deepEqual((await glob({ globs: ['*.log'], respectIgnore: false })).paths, ['run.log'])
      const first = await glob({ limit: 2 })
      assert.deepEqual(first.paths, ['blob.bin', 'src/answer.ts'])
      assert.deepEqual(await glob({ limit: 2, cursor: first.cursor }), { paths: ['src/main.ts'], cursor: null })
    })

    test('grep finds lines, and says what it left out', async () => {
      const { lines, skipped, cursor } = await grep()
      assert.deepEqual(lines, [
        'src/answer.ts:1:14:export const answer = 42',
        'src/main.ts:1:10:import { answer } from "./answer"',
        'src/main.ts:3:13:console.log(answer)',
      ])
      assert.deepEqual([skipped.binary, cursor], [1, null])
      assert.deepEqual((await grep({ pattern: 'ANSWER', ignoreCase: true, globs: ['src/answer.ts'] })).lines.length, 1)
      assert.deepEqual((await grep({ pattern: '(answer)', fixed: true })).lines.length, 1)
      const [file] = (await grep({ pattern: '^console', before: 5, after: 5 })).files
      assert.deepEqual(file.matches[0].before, ['import { answer } from "./answer"', ''])
    })

    test('pages follow each other without a gap', async () => {
      const all = (await grep()).lines
      const paged: string[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await grep({ limit: 1, cursor })
        paged.push(...page.lines)
        cursor = page.cursor
      }
      assert.deepEqual(paged, all)
    })

    test('what cannot be searched for is refused', async () => {
      for (const bad of [{ pattern: '(' }, { pattern: '(?=x)' }, { limit: 0 }, { cursor: 'nonsense' }]) {
        const params = { path: uri(), pattern: 'x', ...bad }
        assert.equal((await client.failure('fs/grep', params)).code, -32600, JSON.stringify(bad))
      }
      const missing = { path: `${uri()}/nothing`, pattern: 'x' }
      assert.equal((await client.failure('fs/grep', missing)).code, -32004)
    })
  })
}
