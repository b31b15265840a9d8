import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { ThisHost } from '@waldo/sandbox/linux'
import { ProfileCache } from './profile-cache.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waldo-profiles-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const policy = { files: undefined, network: 'restricted', skipped: [] } as const

describe('a profile that comes again', () => {
  test('is what it was, until something that it depends on has changed', () => {
    const cache = new ProfileCache<number>()
    let made = 0
    const look = () =>
      cache.get('key', () => {
        const facts = new ThisHost()
        facts.resolve(join(directory, 'w'))
        return { policy, facts, made: ++made }
      }).made
    assert.deepEqual([look(), look()], [1, 1])
    mkdirSync(join(directory, 'other'))
    assert.equal(look(), 1)
    mkdirSync(join(directory, 'w'))
    assert.deepEqual([look(), look()], [2, 2])
    renameSync(join(directory, 'w'), join(directory, 'gone'))
    assert.equal(look(), 3)
  })

  test('is made anew if thirty-two others have come since', () => {
    const cache = new ProfileCache<number>()
    let made = 0
    const look = (key: string) => cache.get(key, () => ({ policy, facts: new ThisHost(), made: ++made })).made
    const all = Array.from({ length: 32 }, (_, i) => look(`${i}`))
    assert.equal(look('0'), all[0])
    look('another')
    assert.equal(look('0'), all[0])
    assert.notEqual(look('1'), all[1])
  })

  test('is not kept if it could not be made', () => {
    const cache = new ProfileCache<number>()
    assert.throws(() => cache.get('key', () => assert.fail('refused')), /refused/)
    assert.equal(cache.get('key', () => ({ policy, facts: new ThisHost(), made: 1 })).made, 1)
  })
})
