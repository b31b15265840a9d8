import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAllowEntry } from './allow-entry.ts'

const name = (name: string, port?: number) => ({ kind: 'name', name, port })
const suffix = (name: string, port?: number) => ({ kind: 'suffix', name, port })
const range = (bytes: number[], bits: number, port?: number) => ({
  kind: 'range',
  range: { address: Uint8Array.from(bytes), bits },
  port,
})
const v6 = (start: number[]) => [...start, ...new Array(16 - start.length).fill(0)]
const ONE = [...new Array(15).fill(0), 1]

test('hosts, suffixes, addresses and ranges can be allowed, on one port or on all', () => {
  for (const [text, expected] of [
    ['example.com', name('example.com')],
    ['Example.COM.', name('example.com')],
    ['example.com:443', name('example.com', 443)],
    ['bücher.example', name('xn--bcher-kva.example')],
    ['my_host', name('my_host')],
    ['*.example.com', suffix('example.com')],
    ['*.example.com:8443', suffix('example.com', 8443)],
    ['127.0.0.1', range([127, 0, 0, 1], 32)],
    ['127.0.0.1:80', range([127, 0, 0, 1], 32, 80)],
    ['2130706433', range([127, 0, 0, 1], 32)],
    ['0x7f.1', range([127, 0, 0, 1], 32)],
    ['10.0.0.0/8', range([10, 0, 0, 0], 8)],
    ['172.16.0.0/12:443', range([172, 16, 0, 0], 12, 443)],
    ['0.0.0.0/0', range([0, 0, 0, 0], 0)],
    ['::1', range(ONE, 128)],
    ['[::1]', range(ONE, 128)],
    ['[::1]:8080', range(ONE, 128, 8080)],
    ['2001:db8::/32', range(v6([0x20, 1, 0x0d, 0xb8]), 32)],
    ['[2001:db8::/33]:443', range(v6([0x20, 1, 0x0d, 0xb8]), 33, 443)],
    ['::ffff:10.0.0.1', range([10, 0, 0, 1], 32)],
  ] as const) {
    assert.deepEqual(parseAllowEntry(text), expected, text)
  }
})

test('what cannot be allowed says why', () => {
  for (const [text, reason] of [
    ['', /has no host/],
    [':80', /has no host/],
    ['http://example.com', /it is a URL; give a host/],
    ['example.com:', /"" is no port/],
    ['example.com:0', /"0" is no port/],
    ['example.com:65536', /"65536" is no port/],
    ['example.com:http', /"http" is no port/],
    ['*', /a star stands only at the beginning/],
    ['a.*.com', /a star stands only at the beginning/],
    ['*.*.com', /is no host name/],
    ['*.10.0.0.1', /a star stands before names only/],
    ['exa mple.com', /is no host name/],
    ['user@example.com', /is no host name/],
    ['example.com?x', /is no host name/],
    ['example.com/24', /a slash comes after an address only/],
    ['10.0.0.0/33', /a number from 0 to 32/],
    ['10.0.0.0/', /a number from 0 to 32/],
    ['10.0.0.0/8/8', /more than one slash/],
    ['10.0.0.1/8', /address bits beyond the first 8/],
    ['2001:db8::/129', /a number from 0 to 128/],
    ['[example.com]:80', /in brackets there must be an IPv6 address/],
    ['[]:80', /has no host/],
    ['[::1', /is no host name/],
    ['[::1]80', /is no host name/],
    ['256.0.0.1', /is no host name/],
    ['fe80::1%eth0', /is no host name/],
    ['1:2:3', /is no host name/],
  ] as const) {
    assert.throws(() => parseAllowEntry(text), reason, text)
  }
})
