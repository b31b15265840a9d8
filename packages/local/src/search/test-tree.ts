import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type GlobRequest, glob } from './glob.ts'
import { type GrepAnswer, type GrepRequest, grep } from './grep.ts'

/** For tests: a directory with files that is removed when it goes out of scope. */
export class TestTree implements Disposable {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-search-')))

  /** Paths that end in a slash become directories, texts files, `{ link }` symlinks. */
  constructor(files: Readonly<Record<string, string | Uint8Array | { link: string }>> = {}) {
    for (const [path, content] of Object.entries(files)) {
      const full = join(this.root, path)
      mkdirSync(path.endsWith('/') ? full : dirname(full), { recursive: true })
      if (path.endsWith('/')) continue
      if (typeof content === 'object' && 'link' in content) symlinkSync(content.link, full)
      else writeFileSync(full, content)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

/** For tests: where ripgrep is, after installing it if it is missing and we may. */
export function ripgrepForTests(): string {
  const found = Bun.which('rg')
  if (found) return found
  const install = ['apt-get', 'install', '-y', 'ripgrep']
  if (process.getuid?.() === 0 && Bun.which('apt-get'))
    Bun.spawnSync(install, { stdio: ['ignore', 'ignore', 'inherit'] })
  const installed = Bun.which('rg')
  if (!installed) throw new Error(`these tests compare with ripgrep: install it with "sudo ${install.join(' ')}"`)
  return installed
}

/** For tests: a request in which only what is given is special. */
export function globRequest(root: string, options: Partial<GlobRequest> = {}): GlobRequest {
  return { root, globs: [], respectIgnore: true, hidden: false, kind: 'file', limit: 10_000, ...options }
}

export function grepRequest(root: string, options: Partial<GrepRequest> = {}): GrepRequest {
  const scope = { root, globs: [], respectIgnore: true, hidden: false }
  return {
    ...scope,
    pattern: 'needle',
    fixed: false,
    ignoreCase: false,
    before: 0,
    after: 0,
    limit: 10_000,
    ...options,
  }
}

/** For tests: matches as `path:line:column:text`, and after that what is special about them. */
export function shown({ files }: GrepAnswer, root: string): string[] {
  return files.flatMap(({ path, matches }) =>
    matches.map(({ line, column, text, before, after, ...marks }) => {
      const name = (typeof path === 'string' ? path : path.toString('latin1')).slice(root.length + 1)
      const context = before.length + after.length > 0 ? ` <${before.join('|')}><${after.join('|')}>` : ''
      return `${name}:${line}:${column}:${text}${context}${Object.keys(marks)
        .map((mark) => ` ${mark}`)
        .join('')}`
    }),
  )
}

/** For tests: all pages together. */
export async function pages(search: GrepRequest, program: string | undefined): Promise<GrepAnswer & { pages: number }> {
  const skipped = { binary: 0, tooLarge: 0 }
  const all = {
    files: [] as { path: unknown; matches: unknown[] }[],
    cursor: null,
    skipped,
    errors: [] as unknown[],
    pages: 0,
  }
  for (let cursor: string | null | undefined; cursor !== null; all.pages++) {
    const page = await grep(
      { ...search, ...(cursor && { cursor }) },
      { ripgrep: program },
      new AbortController().signal,
    )
    for (const { path, matches } of page.files) {
      const last = all.files.at(-1)
      if (String(last?.path) === String(path)) last!.matches.push(...matches)
      else all.files.push({ path, matches: [...matches] })
    }
    skipped.binary += page.skipped.binary
    skipped.tooLarge += page.skipped.tooLarge
    all.errors.push(...page.errors)
    cursor = page.cursor
  }
  return all as GrepAnswer & { pages: number }
}

/** For tests: paths from the root; those that are not UTF-8 as they look in Latin-1. */
export async function found(tree: TestTree, options: Partial<GlobRequest> = {}): Promise<string[]> {
  const answer = await glob(globRequest(tree.root, options), new AbortController().signal)
  assert.deepEqual(answer.errors, [])
  return answer.matches.map(({ path }) =>
    (typeof path === 'string' ? path : path.toString('latin1')).slice(tree.root.length + 1),
  )
}
