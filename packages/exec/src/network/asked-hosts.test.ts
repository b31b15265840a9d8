import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAskedAbout } from './asked-hosts.ts'

const isAsked = (pattern: string, host: string, port = 443) =>
  isAskedAbout({ environmentId: 'here', host, protocol: 'https_connect', port }, { '*': 'allow', [pattern]: 'none' })

test('a host is asked about by every pattern that has the proxy ask', () => {
  for (const [pattern, host] of [
    ['example.com', 'example.com'],
    [' Example.COM. ', 'example.com'],
    ['example.com', 'EXAMPLE.com.'],
    ['*.example.com', 'a.b.example.com'],
    ['**.example.com', 'example.com'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['127.1', '127.0.0.1'],
    ['[::1]', '::1'],
    ['[::1]:80', '::1'],
    ['*', 'example.com'],
  ] as const) {
    assert.ok(isAsked(pattern, host), `${pattern} ${host}`)
  }
  assert.ok(isAsked('example.com:8080', 'example.com', 443), 'the proxy asks about all its ports')
  for (const [pattern, host] of [
    ['*.example.com', 'example.com'],
    ['example.com', 'a.example.com'],
    ['**.example.com', 'notexample.com'],
    ['::1', '127.0.0.1'],
  ] as const) {
    assert.ok(!isAsked(pattern, host), `${pattern} ${host}`)
  }
  assert.throws(() => isAsked('a.*', 'example.com'), /"a\.\*" is no domain pattern/)
})
