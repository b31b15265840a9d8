import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { applyHunks } from './apply-hunks.ts'
import { SearchEffort } from './find-lines.ts'
import { parsePatch } from './parse-patch.ts'
import { PatchError } from './patch-error.ts'

function apply(content: string, lines: readonly string[]): string {
  const text = ['*** Begin Patch', '*** Update File: f', ...lines, '*** End Patch'].join('\n')
  const [section] = parsePatch(text).sections
  assert.ok(section?.kind === 'update')
  const options = { name: 'f', effort: new SearchEffort() }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(
    applyHunks(new TextEncoder().encode(content), section.hunks, options),
  )
}

describe('hunks that are made to take long', () => {
  const many = 300_000

  test('fit a file of nothing but equal lines', () => {
    const file = 'a\n'.repeat(many)
    const wanted = [...Array<string>(100_000).fill(' a'), '-b', '+c']
    assert.equal(apply(`${file}b\n`, ['@@', ...wanted]), `${file}c\n`)
    assert.throws(() => apply(file, ['@@', ...wanted]), /Failed to find expected lines in f/)
  })

  test('fit one after the other, in as many places as there are', () => {
    const hunks = Array.from({ length: many }, () => ['@@', '-a', '+b']).flat()
    assert.equal(apply('a\n'.repeat(many), hunks), 'b\n'.repeat(many))
  })

  test('are many changes of one long hunk', () => {
    const lines = Array.from({ length: many }, () => [' k', '-a', '+b']).flat()
    assert.equal(apply('k\na\n'.repeat(many), ['@@', ...lines]), 'k\nb\n'.repeat(many))
  })

  test('are given up where they search everything again and again', () => {
    // Each is found at the end only, and only by its looks: everything has to be searched for it.
    const file = `${'a\nb\n'.repeat(100_000)}`
    const hunks = Array.from({ length: 20_000 }, () => ['@@', '-b', '-b', '+c']).flat()
    assert.throws(() => apply(file, hunks), PatchError)
    const additions = Array.from({ length: 50_000 }, () => ['@@ \ta', '+c']).flat()
    const far = `${'x\n'.repeat(200_000)}${'a\n'.repeat(50_000)}`
    assert.equal(apply(far, additions), `${'x\n'.repeat(200_000)}${'a\nc\n'.repeat(50_000)}`)
    const backwards = Array.from({ length: 5_000 }, (_, index) => ['@@', `-${index}`, ' end', '+c']).flat()
    const numbers = Array.from({ length: 100_000 }, (_, index) => `${index}\n`).join('')
    assert.throws(() => apply(`${numbers}end\n`, backwards), PatchError)
  })

  test('are compared with very long lines', () => {
    const long = 'x'.repeat(4_000_000)
    assert.throws(
      () => apply(`${long}y\n`, ['@@', `-${long}`, '+c']),
      (error: Error) => error.message.length < 2_000,
    )
  })

  test('search takes no more than a patch may take, over all its files', () => {
    const effort = new SearchEffort()
    effort.spend(399_000_000)
    assert.throws(() => effort.spend(2_000_000), /it takes too long to find out where the hunks of this patch belong/)
  })
})

describe('the error about lines that are not found', () => {
  test('shows only some of many lines', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `-nothing ${index}`)
    assert.throws(() => apply('a\n', ['@@', ...lines]), /nothing 11\n… and 488 more$/)
  })

  test('names no lines where none is alike', () => {
    assert.throws(
      () => apply('abc\n', ['@@', '-xyz', '+q']),
      (error: Error) => !error.message.includes('nearest'),
    )
  })
})
