import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closeDescriptor, createPipe, resourceLimit, setResourceLimit } from './libc.ts'

// The optimizer once took the descriptors of the first of two pipes for those of the second.
test('values that come back through memory are right after many calls', () => {
  const original = resourceLimit('openFiles')
  for (let i = 0; i < 50_000; i++) {
    const soft = BigInt(1000 + (i % 500))
    setResourceLimit('openFiles', { soft, hard: original.hard })
    assert.equal(resourceLimit('openFiles').soft, soft)
  }
  setResourceLimit('openFiles', original)
  for (let i = 0; i < 50_000; i++) {
    const [a, b] = [createPipe(), createPipe()]
    const all = [a.readEnd, a.writeEnd, b.readEnd, b.writeEnd]
    assert.equal(new Set(all).size, 4)
    for (const fd of all) closeDescriptor(fd)
  }
})
