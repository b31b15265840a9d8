import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ExecError } from '@waldo/environment'
import fc from 'fast-check'
import { grepRequest, pages, ripgrepForTests, shown, TestTree } from './fixtures/tree.ts'
import { grep } from './grep.ts'

const ripgrep = ripgrepForTests()
const live = new AbortController().signal

test('both engines give the same answer for any tree', async () => {
  const name = fc.constantFrom('a', 'b', 'c.ts', '.d', 'é')
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
  const content = fc
    .array(fc.constantFrom('needle', 'é', '\n', '\r\n', ' ', '\0', 'x'.repeat(3000)), { maxLength: 12 })
    .map((parts) => parts.join(''))
  const rules = fc
    .array(fc.constantFrom('a', '/b', '*.ts', '!c.ts', 'a/', '**/é'), { maxLength: 3 })
    .map((lines) => lines.join('\n'))
  const options = fc.record({
    globs: fc.subarray(['*.ts', '!a', 'b/**', '.d']),
    hidden: fc.boolean(),
    respectIgnore: fc.boolean(),
    before: fc.nat(2),
    after: fc.nat(2),
    limit: fc.integer({ min: 1, max: 5 }),
    pattern: fc.constantFrom('needle', 'e$', '^', '\\s', '[^e]e'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(path, content)), rules, options, async (files, ignore, chosen) => {
      // A name that is a directory for another cannot be a file.
      const kept = files.filter(([path]) => !files.some(([other]) => other.startsWith(`${path}/`)))
      using tree = new TestTree({ ...Object.fromEntries(kept), '.gitignore': ignore })
      assert.deepEqual(
        await pages(grepRequest(tree.root, chosen), undefined),
        await pages(grepRequest(tree.root, chosen), ripgrep),
      )
    }),
    { numRuns: 60 },
  )
})

test('where our own engine gives up, it says so', async () => {
  using tree = new TestTree({ a: `${'a'.repeat(60)}b\n`, b: 'ab\n' })
  const search = grepRequest(tree.root, { pattern: '(?:a|aa)+x|a*b' })
  const ours = await grep(search, { ripgrep: undefined }, live)
  assert.deepEqual(shown(ours, tree.root), ['b:1:1:ab'])
  assert.deepEqual(
    ours.errors.map(({ path, message }) => [path, /too many ways/.test(message)]),
    [[join(tree.root, 'a'), true]],
  )
  assert.equal((await grep(search, { ripgrep }, live)).files.length, 2)
})

test('a ripgrep that is not there, or does something else, is a failure and not an empty answer', async () => {
  using tree = new TestTree({ a: 'needle' })
  const missing = grep(grepRequest(tree.root), { ripgrep: '/nonexistent/rg' }, live)
  await assert.rejects(missing, (error) => ExecError.is(error, 'SPAWN_FAILED'))
  for (const program of ['/bin/echo', '/bin/cat']) {
    const other = grep(grepRequest(tree.root), { ripgrep: program }, live)
    await assert.rejects(other, (error) => ExecError.is(error, 'FILE_FAILED'), program)
  }
})

test('what has become another file while ripgrep searched is reported, and what has only grown is shown', async () => {
  using tree = new TestTree({ 'in/grown': 'needle\n', 'in/replaced': 'needle\n', 'in/same': 'needle\n' })
  const at = (name: string) => join(tree.root, name)
  const script = [
    '#!/bin/sh',
    `${ripgrep} "$@" > ${at('found')}`,
    `echo more >> ${at('in/grown')}`,
    `echo other > ${at('other')}; mv ${at('other')} ${at('in/replaced')}`,
    `cat ${at('found')}`,
  ]
  writeFileSync(at('slow'), script.join('\n'), { mode: 0o755 })
  const answer = await grep(grepRequest(at('in')), { ripgrep: at('slow') }, live)
  assert.deepEqual(shown(answer, at('in')), ['grown:1:1:needle', 'same:1:1:needle'])
  assert.deepEqual(answer.errors, [
    { path: at('in/replaced'), message: 'it changed while it was searched: search it again' },
  ])
})

test('a file that ripgrep cannot open any more is one error, and the others are searched', async () => {
  using tree = new TestTree({ 'in/a': 'needle\n', 'in/b': 'needle\n' })
  const at = (name: string) => join(tree.root, name)
  writeFileSync(at('late'), ['#!/bin/sh', `rm ${at('in/a')}`, `exec ${ripgrep} "$@"`].join('\n'), { mode: 0o755 })
  const answer = await grep(grepRequest(at('in')), { ripgrep: at('late') }, live)
  assert.deepEqual(shown(answer, at('in')), ['b:1:1:needle'])
  assert.deepEqual(
    answer.errors.map(({ path, message }) => [path, /No such file/.test(message)]),
    [[at('in/a'), true]],
  )
})

test('a ripgrep that refuses the pattern is a failure', async () => {
  using tree = new TestTree({ 'in/a': 'needle\n' })
  const at = (name: string) => join(tree.root, name)
  writeFileSync(at('old'), ['#!/bin/sh', `exec ${ripgrep} --regex-size-limit=1 "$@"`].join('\n'), { mode: 0o755 })
  const refused = grep(grepRequest(at('in'), { pattern: '\\w{50}' }), { ripgrep: at('old') }, live)
  await assert.rejects(refused, (error) => ExecError.is(error, 'FILE_FAILED') && /limit/.test(error.message))
})
