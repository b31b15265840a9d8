import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grammarFiles } from '../node/bash-grammar.ts'
import { BashGrammar } from './bash-grammar.ts'

test('the grammar is loaded when it is first needed, once for all who wait for it', async () => {
  let loads = 0
  const grammar = new BashGrammar({
    ...grammarFiles,
    bash: () => {
      loads++
      return grammarFiles.bash()
    },
  })
  assert.equal(loads, 0)
  const types = await Promise.all(['ls', 'pwd', 'x'].map((script) => grammar.parse(script, ({ type }) => type)))
  assert.deepEqual([types, loads], [['program', 'program', 'program'], 1])
})

test('a grammar that cannot be loaded is told each time, and tried again', async () => {
  let isThere = false
  const missing = new Error('no such file')
  const grammar = new BashGrammar({
    ...grammarFiles,
    bash: () => (isThere ? grammarFiles.bash() : Promise.reject(missing)),
  })
  const parse = () => grammar.parse('ls', ({ type }) => type)
  for (const _ of [1, 2]) {
    await assert.rejects(parse, (error: Error) => /could not be loaded/.test(error.message) && error.cause === missing)
  }
  isThere = true
  assert.equal(await parse(), 'program')
})

test('a file that is no grammar is told', async () => {
  const grammar = new BashGrammar({ ...grammarFiles, bash: async () => new Uint8Array([1, 2, 3]) })
  await assert.rejects(
    grammar.parse('ls', () => true),
    /could not be loaded/,
  )
})
