import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { canonicalHost, isAddress } from './host-name.ts'

describe('a host', () => {
  test('has one spelling, however it is written', () => {
    const spellings = {
      'example.com': ['example.com', 'Example.COM', 'example.com.', 'ｅxample.com'],
      'xn--mnchen-3ya.de': ['münchen.de', 'MÜNCHEN.de', 'xn--mnchen-3ya.de'],
      '127.0.0.1': [
        ...['127.0.0.1', '127.0.0.1.', '127.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
        ...[
          '::ffff:127.0.0.1',
          '[::ffff:7f00:1]',
          '::FFFF:7F00:1',
          '0:0:0:0:0:ffff:127.0.0.1',
          '0:0:0::ffff:127.0.0.1',
          '１２７.0.0.1',
        ],
      ],
      '0.0.0.0': ['0', '0.0.0.0', '0x0'],
      '::1': ['::1', '[::1]', '0:0:0:0:0:0:0:1', '[::0001]', '::1%lo', '[::1%25lo]'],
      'fe80::1': ['fe80::1%eth0', '[FE80::1%25eth0]'],
      'a_b.test': ['a_b.test'],
      localhost: ['LOCALHOST', 'localhost.'],
    }
    for (const [canonical, texts] of Object.entries(spellings)) {
      for (const text of texts) assert.equal(canonicalHost(text), canonical, text)
    }
  })

  test('is none with anything else in it', () => {
    const texts = [
      ...[
        '',
        '.',
        '..',
        'a..b',
        '.a',
        '*',
        '*.a',
        'a b',
        ' a',
        'a\0',
        'a\n',
        'a\tb',
        'a/b',
        'a?b',
        'a#b',
        'a@b',
        'a\\b',
      ],
      ...[
        'a:80',
        '[::1',
        '::1]',
        '[a]',
        '[::1]x',
        '%61.test',
        'a%00',
        '1.2.3.4.5',
        '256.0.0.1',
        '::256.0.0.1',
        '::01.0.0.1',
        '1.0.0.1::',
        'a.1',
        '::g',
      ],
      ...['a'.repeat(64), `${'a.'.repeat(127)}aa`, 'a|b', 'a^b', 'a<b', 'a,b', 'a;b', 'a=b', 'a\u00ad\u200b/b'],
    ]
    for (const text of texts) assert.equal(canonicalHost(text), undefined, JSON.stringify(text))
  })
  test('is spelled as it is by whoever reads it again, and is an address for everybody or nobody', () => {
    const parts = ['a', 'b-c', '.', ':', '::', 'ffff', '0', '127', '0x7f', '1', '[', ']', '%', 'ü', '\n', '١', 'xn--']
    const texts = fc.oneof(
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.domain(),
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((found) => found.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        const host = canonicalHost(text)
        if (isIP(text) && !text.includes('%')) assert.notEqual(host, undefined)
        if (host === undefined) return
        assert.equal(canonicalHost(host), host)
        assert.equal(isAddress(host), isIP(host) !== 0)
      }),
      { numRuns: 2000 },
    )
  })

  test('is none if it is too long to be one', () => {
    for (const text of [
      'a.'.repeat(500_000),
      `::${'0'.repeat(1_000_000)}`,
      'ü'.repeat(1_000_000),
      '['.repeat(1_000_000),
    ]) {
      assert.equal(canonicalHost(text), undefined)
    }
    const longest = `${'a.'.repeat(126)}a`
    assert.equal(canonicalHost(`${longest}.`), longest)
  })
})
