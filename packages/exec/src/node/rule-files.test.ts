import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { loadRules } from '../policy/rules/load-rules.ts'
import { RulesError } from '../policy/rules/rules-error.ts'
import { readRuleLayers } from './read-rules.ts'
import { RuleFiles } from './rule-files.ts'
import type { RulePlaces } from './rule-places.ts'

let root: string
let places: RulePlaces & { workspace: string; systemDirectory: string }

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'waldo-rules-'))
  await mkdir(join(root, 'project'))
  places = {
    env: { XDG_CONFIG_HOME: join(root, 'config') },
    workspace: join(root, 'project'),
    systemDirectory: join(root, 'etc'),
  }
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function write(path: string, text: string | Uint8Array): Promise<string> {
  const file = join(root, path)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, text)
  return file
}

const user = (name: string) => `config/waldo/rules/${name}`
const project = (name: string) => `project/.waldo/rules/${name}`
const read = (path: string) => readFile(join(root, path), 'utf8')

async function problems(): Promise<string> {
  const error = await readRuleLayers(places).then(
    () => assert.fail('it was read'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof RulesError)
  return error.message.replaceAll(`${root}/`, '')
}

describe('rule files', () => {
  test('are those of the system, of the user and of the project, by their names', async () => {
    await write('etc/s.rules', 's')
    await write(user('b.rules'), 'b')
    await write(user('a.rules'), 'a')
    await write(user('notes.txt'), 'no')
    await write(user('.hidden.rules'), 'no')
    await write(project('p.rules'), 'p')
    const layers = await readRuleLayers(places)
    const shown = layers.map(({ name, files }) => [
      name,
      ...files.map(({ path, text }) => [path.replace(`${root}/`, ''), text]),
    ])
    assert.deepEqual(shown, [
      ['system', ['etc/s.rules', 's']],
      ['user', [user('a.rules'), 'a'], [user('b.rules'), 'b']],
      ['project', [project('p.rules'), 'p']],
    ])
    const untrusted = await readRuleLayers({ ...places, workspace: undefined })
    assert.deepEqual(
      untrusted.map(({ name }) => name),
      ['system', 'user'],
    )
  })

  test('need not be there at all', async () => {
    assert.ok((await readRuleLayers(places)).every(({ files }) => files.length === 0))
  })

  test('may be links to files elsewhere', async () => {
    const target = await write('elsewhere', 'prefix_rule(["a"])')
    await mkdir(join(root, 'etc'))
    await symlink(target, join(root, 'etc/a.rules'))
    assert.equal(loadRules(await readRuleLayers(places)).prefixRules.length, 1)
  })

  test('that cannot be read are an error, all of them, and never fewer rules', async () => {
    await write('etc/ok.rules', 'prefix_rule(["a"])')
    await mkdir(join(root, 'etc/directory.rules'))
    await write('etc/large.rules', '#'.repeat(1024 * 1024 + 1))
    await write('etc/latin1.rules', Uint8Array.of(0x23, 0xe9))
    await symlink('nowhere', join(root, 'etc/dangling.rules'))
    const fifo = spawn('mkfifo', [join(root, 'etc/pipe.rules')])
    await once(fifo, 'exit')
    await write('config/waldo/rules', 'a file')
    const lines = (await problems()).split('\n')
    assert.equal(lines.length, 6)
    for (const [i, pattern] of [
      /^etc\/dangling\.rules:1:1: cannot be read: ENOENT/,
      /^etc\/directory\.rules:1:1: cannot be read: it is not a file/,
      /^etc\/large\.rules:1:1: cannot be read: it is larger than 1048576 bytes/,
      /^etc\/latin1\.rules:1:1: cannot be read: /,
      /^etc\/pipe\.rules:1:1: cannot be read: it is not a file/,
      /^config\/waldo\/rules:1:1: cannot be read: ENOTDIR/,
    ].entries()) {
      assert.match(lines[i]!, pattern)
    }
  })
})

const LINE = 'prefix_rule(pattern=["git", "pull"], decision="allow")'

describe('a saved rule', () => {
  test('is a line of default.rules, which is made if it has to be', async () => {
    const store = new RuleFiles(places)
    await store.append('user', LINE)
    await store.append('project', LINE)
    await store.append('project', 'prefix_rule(pattern=["b"], decision="allow")')
    assert.equal(await read(user('default.rules')), `${LINE}\n`)
    assert.equal(await read(project('default.rules')), `${LINE}\nprefix_rule(pattern=["b"], decision="allow")\n`)
    assert.deepEqual(await readdir(join(root, 'project/.waldo/rules')), ['default.rules'])
    assert.equal((await stat(join(root, 'config/waldo/rules'))).mode & 0o777, 0o700)
    assert.equal(loadRules(await readRuleLayers(places)).prefixRules.length, 3)
  })

  test('is not saved twice', async () => {
    const store = new RuleFiles(places)
    await write(user('default.rules'), `# mine\r\n${LINE}\r\n`)
    await store.append('user', LINE)
    assert.equal(await read(user('default.rules')), `# mine\r\n${LINE}\r\n`)
  })

  test('begins on a line of its own', async () => {
    await write(user('default.rules'), '# no line end')
    await new RuleFiles(places).append('user', LINE)
    assert.equal(await read(user('default.rules')), `# no line end\n${LINE}\n`)
  })

  test('is not added to a file that cannot be read with it', async () => {
    await write(user('default.rules'), 'prefix_rule(["a"]')
    await assert.rejects(new RuleFiles(places).append('user', LINE), /repair .*default\.rules first/)
    assert.equal(await read(user('default.rules')), 'prefix_rule(["a"]')
    await write(user('default.rules'), '#'.repeat(1024 * 1024 - 10))
    await assert.rejects(new RuleFiles(places).append('user', LINE), /is full/)
  })

  test('of a project stays in the project', async () => {
    const outside = await write('outside', '')
    const store = new RuleFiles(places)
    await mkdir(join(root, 'project/.waldo/rules'), { recursive: true })
    await symlink(outside, join(root, project('default.rules')))
    await assert.rejects(store.append('project', LINE), /ELOOP/)
    await rm(join(root, 'project/.waldo'), { recursive: true })
    await mkdir(join(root, 'away'))
    await symlink(join(root, 'away'), join(root, 'project/.waldo'))
    await assert.rejects(store.append('project', LINE), /not a directory of the project itself/)
    assert.equal(await read('outside'), '')
    assert.deepEqual(await readdir(join(root, 'away')), [])
    await assert.rejects(
      new RuleFiles({ ...places, workspace: undefined }).append('project', LINE),
      /no trusted project/,
    )
  })

  test('of a user follows the links that the user made', async () => {
    const target = await write('dotfiles', '')
    await mkdir(join(root, 'config/waldo/rules'), { recursive: true })
    await symlink(target, join(root, user('default.rules')))
    await new RuleFiles(places).append('user', LINE)
    assert.equal(await read('dotfiles'), `${LINE}\n`)
  })

  test('does not wait for somebody who is gone', async () => {
    const lock = await write(user('default.rules.lock'), '1 gone\n')
    const longAgo = new Date(Date.now() - 60_000)
    await utimes(lock, longAgo, longAgo)
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => new RuleFiles(places).append('user', `prefix_rule(pattern=["${i}"])`)),
    )
    assert.equal((await read(user('default.rules'))).split('\n').length, 11)
    assert.deepEqual(await readdir(join(root, 'config/waldo/rules')), ['default.rules'])
  })

  // Only Bun runs the sources.
  const isBun = 'Bun' in globalThis
  test('is neither lost nor torn when many processes save at once', { skip: !isBun }, async () => {
    await write(user('default.rules'), '# no line end')
    const program = `
      const { RuleFiles } = await import(process.argv[1])
      const store = new RuleFiles({ env: process.env })
      for (let i = 0; i < 20; i++) {
        await store.append('user', \`prefix_rule(pattern=["\${process.argv[2]}", "\${i}", "\${'x'.repeat(500)}"])\`)
        await store.append('user', 'prefix_rule(pattern=["shared", "' + i + '"])')
      }`
    const env = { ...process.env, ...places.env, WALDO_HOME: '' }
    const module = fileURLToPath(new URL('rule-files.ts', import.meta.url))
    const children = Array.from({ length: 6 }, (_, i) =>
      spawn(process.execPath, ['-e', program, module, `p${i}`], { env, stdio: 'inherit' }),
    )
    const exits = await Promise.all(children.map((child) => once(child, 'exit')))
    assert.deepEqual(
      exits.map(([code]) => code),
      Array(6).fill(0),
    )
    const rules = loadRules(await readRuleLayers(places)).prefixRules.map(({ pattern }) =>
      pattern.slice(0, 2).join(' '),
    )
    const expected = Array.from({ length: 20 }, (_, i) => [
      `shared,${i}`,
      ...Array.from({ length: 6 }, (_, p) => `p${p},${i}`),
    ])
    assert.deepEqual(rules.map((words) => words.replace(' ', ',')).sort(), expected.flat().sort())
    assert.deepEqual(await readdir(join(root, 'config/waldo/rules')), ['default.rules'])
  })
})
