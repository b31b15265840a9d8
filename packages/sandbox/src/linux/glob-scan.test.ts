import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { DenyGlob } from '../policy/deny-glob.ts'
import { FileRules } from '../policy/file-rules.ts'
import { scanGlobs } from './glob-scan.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-globs-')))
})
afterEach(() => rmSync(root, { recursive: true }))

function plant(...names: string[]): void {
  for (const name of names) {
    mkdirSync(join(root, name, '..'), { recursive: true })
    writeFileSync(join(root, name), '')
  }
}

/** What the patterns match, from the root; a directory with a slash at its end. */
async function scan(patterns: readonly string[], globDepth?: number): Promise<string[]> {
  const globs = patterns.flatMap((pattern) => DenyGlob.parse(join(root, pattern)))
  const found = await scanGlobs(new FileRules({ rules: [], globs, globDepth }))
  return found.map(({ path, isDirectory }) => `${path.slice(root.length + 1)}${isDirectory ? '/' : ''}`).sort()
}

describe('what deny patterns mean', () => {
  test('is what they match now, at any depth, but nothing below a match', async () => {
    plant('a.env', 'd/b.env', 'd/e/.hidden/c.env', 'd/e/c.txt', 'x.env/inner.env')
    assert.deepEqual(await scan(['**/*.env']), ['a.env', 'd/b.env', 'd/e/.hidden/c.env', 'x.env/'])
    assert.deepEqual(await scan(['d/*.env', 'd/**/c.*', 'd/e']), ['d/b.env', 'd/e/'])
  })

  test('is only looked for as deep as the profile says', async () => {
    plant('a.env', 'd/b.env', 'd/e/c.env')
    assert.deepEqual(await scan(['**/*.env'], 1), ['a.env'])
    assert.deepEqual(await scan(['**/*.env'], 2), ['a.env', 'd/b.env'])
  })

  test('is not looked for behind links, but where a link leads that matches', async () => {
    plant('out/a.env', 'secrets/key', 'd/x')
    symlinkSync('../out', join(root, 'd/l'))
    symlinkSync('../secrets', join(root, 'd/dir.env'))
    symlinkSync('../secrets/key', join(root, 'd/file.env'))
    symlinkSync('nowhere', join(root, 'd/broken.env'))
    symlinkSync('round.env', join(root, 'd/round.env'))
    assert.deepEqual(await scan(['d/**/*.env']), ['secrets/', 'secrets/key'])
  })

  test('is nothing where there is nothing', async () => {
    plant('file')
    assert.deepEqual(await scan(['gone/**/*.env', 'file/*']), [])
  })

  test('cannot be enforced for a name that is not UTF-8', async () => {
    writeFileSync(Buffer.concat([Buffer.from(join(root, 'bad')), Buffer.of(0xff), Buffer.from('.env')]), '')
    await assert.rejects(scan(['*.env']), { name: 'PolicyError', message: /not UTF-8/ })
    assert.deepEqual(await scan(['*.txt']), [])
  })

  test('cannot be found out among too many names, and keeps nobody waiting meanwhile', async () => {
    plant(...Array.from({ length: 5000 }, (_, i) => `d/${i}`))
    const links = Array.from({ length: 101 }, (_, i) => `l${i}`)
    for (const link of links) symlinkSync('d', join(root, link))
    let turns = 0
    const timer = setInterval(() => turns++, 1)
    const patterns = links.map((link) => `${link}/*.env`)
    await assert.rejects(scan(patterns), { name: 'PolicyError', message: /more than 500000 names .* deeper directory/ })
    clearInterval(timer)
    assert.ok(turns > 1)
  })
})
