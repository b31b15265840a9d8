import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  between,
  child,
  depthOf,
  firstNameBelow,
  isBelow,
  isWithin,
  nameOf,
  normalize,
  parentOf,
} from './posix-path.ts'

describe('paths', () => {
  test('are within what names the same directories, not what begins with the same letters', () => {
    assert.ok(isWithin('/a', '/a'))
    assert.ok(isWithin('/a', '/a/b'))
    assert.ok(isWithin('/', '/a'))
    assert.ok(!isWithin('/a', '/ab'))
    assert.ok(!isWithin('/a/b', '/a'))
    assert.ok(isBelow('/', '/a'))
    assert.ok(!isBelow('/', '/'))
    assert.ok(!isBelow('/a', '/a'))
  })

  test('have a depth, a parent and a name', () => {
    assert.deepEqual(['/', '/a', '/a/b'].map(depthOf), [0, 1, 2])
    assert.deepEqual(['/', '/a', '/a/b'].map(parentOf), ['/', '/', '/a'])
    assert.deepEqual(['/a', '/a/b'].map(nameOf), ['a', 'b'])
    assert.equal(child('/', 'a'), '/a')
    assert.equal(child('/a', 'b'), '/a/b')
    assert.equal(firstNameBelow('/', '/a/b'), 'a')
    assert.equal(firstNameBelow('/a', '/a/b/c'), 'b')
    assert.deepEqual(between('/a', '/a/b/c/d'), ['/a/b', '/a/b/c'])
    assert.deepEqual(between('/', '/a/b'), ['/a'])
    assert.deepEqual(between('/a', '/a/b'), [])
  })

  test('are brought into one form by their text alone', () => {
    assert.equal(normalize('a/b'), undefined)
    const text = fc
      .array(fc.constantFrom('a', 'b', '.', '..', '', '...'), { maxLength: 8 })
      .map((all) => `/${all.join('/')}`)
    fc.assert(
      fc.property(text, (path) => {
        assert.equal(normalize(path), posix.normalize(path).replace(/(?<=.)\/$/, ''))
      }),
    )
  })
})
