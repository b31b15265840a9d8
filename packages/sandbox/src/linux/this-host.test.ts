import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import fc from 'fast-check'
import { ThisHost } from '../this-host.ts'

let root: string
beforeEach(() => {
  root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'waldo-host-')))
})
afterEach(() => fs.rmSync(root, { recursive: true }))

const at = (name: string) => join(root, name)
/** `/` is a directory, an arrow makes a link; anything else is the text of a file. */
function plant(tree: Readonly<Record<string, string>>): void {
  for (const [name, what] of Object.entries(tree)) {
    fs.mkdirSync(join(at(name), '..'), { recursive: true })
    if (what === '/') fs.mkdirSync(at(name), { recursive: true })
    else if (what.startsWith('-> ')) fs.symlinkSync(what.slice(3), at(name))
    else fs.writeFileSync(at(name), what)
  }
}

describe('a path of this machine', () => {
  const resolve = (name: string) => {
    const { path, links, ...rest } = new ThisHost().resolve(`${root}/${name}`)
    const relative = (each: string) => each.slice(root.length + 1)
    return { path: relative(path), links: links.map(relative), ...rest }
  }

  test('is what the links on its way lead to, each of which is told', () => {
    plant({ 'a/b/f': 'text', l: '-> a', 'a/m': `-> ${root}/a/b`, n: '-> ./l/../l/m' })
    assert.deepEqual(resolve('n/f'), {
      path: 'a/b/f',
      exists: true,
      isDirectory: false,
      links: ['n', 'l', 'l', 'a/m'],
    })
    assert.deepEqual(resolve('l/..'), { path: '', exists: true, isDirectory: true, links: ['l'] })
  })

  test('may be missing, with all below it', () => {
    plant({ f: 'text', a: '/', l: '-> a/no', 'a/m': '-> /nowhere-at-all/x' })
    const missing = { exists: false, isDirectory: false }
    assert.deepEqual(resolve('l/x/../y'), { path: 'a/no/y', links: ['l'], ...missing })
    assert.deepEqual(resolve('f/x'), { path: 'f/x', links: [], ...missing })
    assert.equal(new ThisHost().resolve(at('a/m/y')).path, '/nowhere-at-all/x/y')
  })

  test('that turns in circles leads nowhere', () => {
    plant({ l: '-> m', m: '-> l/x' })
    const { links, ...rest } = resolve('l/y')
    assert.deepEqual([rest, links.length], [{ path: 'l/y', exists: false, isDirectory: false }, 40])
  })

  test('is the same as for the system, whatever links there are', () => {
    const anyLink = fc.constantFrom('a', '../b', 'c', '.', '..', 'd/..', 'a/c/e', '/nowhere', '../l', 'b/d')
    const anyLinks = fc.dictionary(fc.constantFrom('l', 'd', 'a/d', 'a/c/e', 'b/d', 'b/l', 'b/c'), anyLink)
    const anyPath = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'l', '..'), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(anyLinks, fc.array(anyPath, { minLength: 8 }), (links, paths) => {
        for (const name of fs.readdirSync(root)) fs.rmSync(at(name), { recursive: true })
        plant({ 'a/c': '/', b: '/' })
        plant(Object.fromEntries(Object.entries(links).map(([name, target]) => [name, `-> ${target}`])))
        for (const path of paths.map((names) => [root, ...names].join('/'))) {
          const { exists, path: real, isDirectory } = new ThisHost().resolve(path)
          const isThere = fs.existsSync(path)
          if (isThere)
            assert.deepEqual([real, isDirectory], [fs.realpathSync.native(path), fs.statSync(path).isDirectory()])
          assert.equal(exists, isThere, path)
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('the repository of a `.git` that is a file', () => {
  const repositories = () => new ThisHost().gitDirectories(at('w/.git')).map((path) => path.slice(root.length + 1))

  test('is where it points to, and for a worktree also where that was made from', () => {
    plant({ 'r/.git/worktrees/w/commondir': '../..\n', 'w/.git': `gitdir: ${root}/r/.git/worktrees/w\n` })
    assert.deepEqual(repositories(), ['r/.git/worktrees/w', 'r/.git'])
    fs.writeFileSync(at('w/.git'), 'gitdir: ../r/.git')
    assert.deepEqual(repositories(), ['r/.git'])
  })

  test('is none if it points nowhere, to a file, or says something else', () => {
    plant({ 'w/f': 'text' })
    for (const text of ['gitdir: ../no', 'gitdir: f', 'gitdir:', 'text', `gitdir: .${'/'.repeat(5000)}`]) {
      fs.writeFileSync(at('w/.git'), text)
      assert.deepEqual(repositories(), [], text.slice(0, 20))
    }
    fs.rmSync(at('w/.git'))
    assert.deepEqual(repositories(), [])
    fs.mkdirSync(at('w/.git'))
    assert.deepEqual(repositories(), [])
  })

  test('is not waited for where somebody has put a pipe, or a link to one', () => {
    plant({ 'r/HEAD': 'text', 'w/.git': 'gitdir: ../r' })
    assert.equal(spawnSync('mkfifo', [at('r/commondir'), at('fifo')]).status, 0)
    assert.deepEqual(repositories(), ['r'])
    fs.rmSync(at('r/commondir'))
    fs.symlinkSync(at('fifo'), at('r/commondir'))
    assert.deepEqual(repositories(), ['r'])
  })
})

describe('what was found out about this machine', () => {
  const tree = { 'a/f': 'text', 'a/b': '/', l: '-> a', 'w/.git': 'gitdir: ../r', 'r/commondir': '../s', s: '/', t: '/' }
  const changes: Record<string, () => void> = {
    'a directory is replaced': () => {
      fs.renameSync(at('a/b'), at('old'))
      fs.mkdirSync(at('a/b'))
    },
    'a directory becomes a file': () => {
      fs.rmdirSync(at('a/b'))
      fs.writeFileSync(at('a/b'), 'text')
    },
    'a file is removed': () => fs.rmSync(at('a/f')),
    'something new appears': () => fs.mkdirSync(at('a/no')),
    'a link leads elsewhere': () => {
      // The system gives it the number of the one before.
      fs.rmSync(at('l'))
      fs.symlinkSync('s', at('l'))
    },
    'a link becomes what it led to': () => {
      fs.rmSync(at('l'))
      fs.mkdirSync(at('l'))
    },
    'a file points to another repository': () => fs.writeFileSync(at('w/.git'), 'gitdir: ../t'),
    'a repository is a worktree of another': () => fs.writeFileSync(at('r/commondir'), '../t'),
  }
  for (const [title, change] of Object.entries(changes)) {
    test(`does not hold any more if ${title}`, () => {
      plant(tree)
      const facts = new ThisHost()
      for (const name of ['a/b', 'a/f', 'a/no/deep', 'l/f']) facts.resolve(at(name))
      facts.gitDirectories(at('w/.git'))
      assert.ok(facts.isCurrent)
      change()
      assert.ok(!facts.isCurrent)
    })
  }

  test('holds if only something else changes, or what is inside', () => {
    plant(tree)
    const facts = new ThisHost()
    assert.deepEqual(
      [facts.kindOf(at('a/b')), facts.kindOf(at('a/f')), facts.kindOf(at('no'))],
      ['directory', 'file', undefined],
    )
    fs.writeFileSync(at('a/b/new'), 'text')
    fs.writeFileSync(at('a/f'), 'other text')
    fs.rmSync(at('l'))
    assert.ok(facts.isCurrent)
  })

  test('does not count what is only there to be mounted on', () => {
    plant(tree)
    let synthetic = [at('a/b')]
    const facts = new ThisHost((path) => synthetic.includes(path))
    assert.deepEqual([facts.resolve(at('a/b')).exists, facts.kindOf(at('a/b'))], [false, undefined])
    assert.ok(facts.isCurrent)
    synthetic = []
    assert.ok(!facts.isCurrent)
  })
})
