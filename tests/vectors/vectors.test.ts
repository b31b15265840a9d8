import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { readVectors, VectorRunner } from '@waldo/testkit'
import { deviations } from './deviations.ts'

const GROUPS = [
  ...['envelope', 'session', 'process', 'path', 'stdio', 'listener', 'cli', 'environment', 'fs', 'http'],
  ...['sandbox', 'network'],
]

const vectors = readVectors(join(import.meta.dir, 'wire-vectors.jsonl'))
const chosen = vectors.filter(({ name }) => GROUPS.includes(name.split('/')[0]!))

describe('recorded exchanges', () => {
  const runner = new VectorRunner()
  after(() => runner[Symbol.asyncDispose]())

  for (const vector of chosen) {
    const deviates = vector.name in deviations
    test(`${vector.name}${deviates ? ' (we deviate)' : ''}`, { timeout: 30_000 }, async () => {
      const difference = await runner.run(vector)
      // One that agrees after all has no place in the list of deviations.
      if (deviates) assert.notEqual(difference, undefined)
      else assert.equal(difference, undefined)
    })
  }

  test('every deviation names a vector that exists', () => {
    const names = new Set(vectors.map(({ name }) => name))
    for (const name of Object.keys(deviations)) assert.ok(names.has(name), name)
  })
})
