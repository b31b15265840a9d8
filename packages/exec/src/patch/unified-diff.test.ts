import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { differences } from './line-diff.ts'
import { unifiedDiff } from './unified-diff.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const diff = (before: string | undefined, after: string | undefined) =>
  unifiedDiff(before === undefined ? undefined : bytes(before), after === undefined ? undefined : bytes(after), {
    from: 'f',
    to: 'g',
  })

describe('a diff', () => {
  test('shows one line around each change', () => {
    assert.equal(
      diff('1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\nthree\n4\n5\n6\n7\n9\n'),
      '--- a/f\n+++ b/g\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n@@ -7,3 +7,2 @@\n 7\n-8\n 9',
    )
  })

  test('shows changes that are close together as one', () => {
    assert.equal(diff('1\n2\n3\n4\n', '1\nB\n3\nD\n'), '--- a/f\n+++ b/g\n@@ -1,4 +1,4 @@\n 1\n-2\n+B\n 3\n-4\n+D')
  })

  test('says so of what is too large to be compared', () => {
    const large = [new Uint8Array(33 * 1024 * 1024).fill(0x61), new Uint8Array(2_000_001).fill(0x0a)]
    for (const content of large) {
      assert.equal(
        unifiedDiff(content, bytes('x'), { from: 'f', to: 'g' }),
        `--- a/f\n+++ b/g\n… ${content.length} bytes become 1: that is too much to be compared and shown`,
      )
    }
  })

  test('shows files that come and go', () => {
    assert.equal(diff(undefined, 'a\nb\n'), '--- /dev/null\n+++ b/g\n@@ -0,0 +1,2 @@\n+a\n+b')
    assert.equal(diff('a\n', undefined), '--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a')
  })

  test('shows a missing end of the last line', () => {
    assert.equal(diff('a\nb', 'a\nb\n'), '--- a/f\n+++ b/g\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b')
  })

  test('shows bytes that are not text', () => {
    const before = Uint8Array.of(0x61, 0xff, 0x0a, 0xc3, 0xbc, 0x0a)
    const after = Uint8Array.of(0x61, 0xfe, 0x0a, 0xc3, 0xbc, 0x0a)
    assert.equal(
      unifiedDiff(before, after, { from: 'f', to: 'f' }),
      '--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\\xff\n+a\\xfe\n ü',
    )
  })

  test('is cut where it gets too long, and says so', () => {
    const shown = diff('x\n'.repeat(2_000_000), 'y\n'.repeat(2_000_000))
    assert.ok(shown.length < 2_000_000)
    assert.match(shown.slice(-100), /this is not all of it/)
  })

  test('of any two texts is true', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd', ''), { maxLength: 30 })
    fc.assert(
      fc.property(lines, lines, (a, b) => {
        const rebuilt: string[] = []
        let at = 0
        for (const { aStart, aEnd, bStart, bEnd } of differences(a, b)) {
          rebuilt.push(...a.slice(at, aStart), ...b.slice(bStart, bEnd))
          at = aEnd
        }
        assert.deepEqual([...rebuilt, ...a.slice(at)], b)
      }),
    )
  })
})
