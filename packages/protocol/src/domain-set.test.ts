import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DomainSet } from './domain-set.ts'

function setOf(...patterns: string[]): DomainSet {
  const set = new DomainSet()
  for (const pattern of patterns) set.add(pattern)
  return set
}
const matching = (set: DomainSet, ...hosts: string[]) => hosts.filter((host) => set.has(host, 443))

describe('a domain pattern', () => {
  const hosts = ['example.com', 'a.example.com', 'a.b.example.com', 'notexample.com', 'com', 'example.com.evil.test']

  test('stands for one host, for all below it, for both, or for everybody', () => {
    assert.deepEqual(matching(setOf('example.com'), ...hosts), ['example.com'])
    assert.deepEqual(matching(setOf('*.example.com'), ...hosts), ['a.example.com', 'a.b.example.com'])
    assert.deepEqual(matching(setOf('**.example.com'), ...hosts), hosts.slice(0, 3))
    assert.deepEqual(matching(setOf('*'), ...hosts), hosts)
    assert.deepEqual(matching(setOf(), ...hosts), [])
  })

  test('is compared in its one spelling', () => {
    for (const pattern of [' Example.COM. ', 'EXAMPLE.com', 'example.com:443', 'example.com.:443']) {
      assert.deepEqual(matching(setOf(pattern), ...hosts), ['example.com'], pattern)
    }
    for (const pattern of ['[::1]', '::1', '[::1]:443', '::1%lo']) assert.ok(setOf(pattern).has('::1', 443), pattern)
    assert.ok(setOf('0x7f.1').has('127.0.0.1', 443))
    assert.ok(setOf('*.Münch.de').has('a.xn--mnch-0ra.de', 443))
  })

  test('with a port stands for that port', () => {
    const set = setOf('example.com:8080', '*.example.com:0443')
    assert.ok(set.has('example.com', 8080))
    assert.ok(!set.has('example.com', 443))
    assert.ok(set.has('a.example.com', 443))
    assert.ok(!set.has('a.example.com', 8080))
  })

  test('names only what it spells out', () => {
    const set = setOf('*', '**.example.com', '127.0.0.1', '*.localhost')
    assert.deepEqual(
      ['example.com', 'a.example.com', '127.0.0.1', '127.0.0.2', 'a.localhost'].map((host) => set.names(host, 80)),
      [true, false, true, false, false],
    )
    assert.ok(!setOf('*.0.0.1.test', '*.test').has('127.0.0.1', 80))
  })

  test('that is none is refused with what to write instead', () => {
    const wrong = [
      '',
      '**',
      '*.',
      '*.*',
      'a.*',
      '*a.com',
      '***.com',
      'a b',
      'http://a.com',
      'a.com/x',
      '*.127.0.0.1',
      'a:99999',
    ]
    for (const pattern of wrong) assert.throws(() => setOf(pattern), /is no domain pattern; write example.com/, pattern)
    assert.throws(
      () => setOf('x'.repeat(100_000)),
      ({ message }: Error) => message.length < 500,
    )
  })
})
