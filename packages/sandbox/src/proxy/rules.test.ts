import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DecodeError } from '@waldo/protocol'
import { wireConfig } from './fixtures/proxy.ts'
import { proxyRules } from './rules.ts'

const refused = (changes: Record<string, unknown>, message: RegExp) =>
  assert.throws(
    () => proxyRules(wireConfig(changes)),
    (error: Error) => error instanceof DecodeError && message.test(error.message),
    `${JSON.stringify(changes).slice(0, 200)} ${message}`,
  )

describe('the rules of a proxy', () => {
  test('are what a client asks for', () => {
    const domains = { 'a.test': 'allow', 'b.test': 'deny', 'c.test': 'none', '*.d.test:8080': 'deny' }
    const rules = proxyRules(
      wireConfig({ domains, mode: 'limited', reviewDomains: ['a.test'], unixSockets: { '/x': 'deny' } }),
    )
    const { allowed, denied, reviewed, ...others } = rules
    assert.deepEqual(others, { enabled: true, socks: true, limited: true, localAllowed: false })
    const hosts = ['a.test', 'b.test', 'c.test', 'x.d.test']
    assert.deepEqual(
      [allowed, denied, reviewed].map((set) => hosts.filter((host) => set.has(host, 443))),
      [['a.test'], ['b.test', 'x.d.test'], ['a.test']],
    )
  })

  test('are refused when something is missing or of the wrong kind', () => {
    assert.throws(() => proxyRules(undefined), /^DecodeError: missing field `proxy`$/)
    assert.throws(() => proxyRules({}), /^DecodeError: missing field `enabled`$/)
    assert.throws(() => proxyRules([]), /proxy: expected an object/)
    for (const name of [
      'enabled',
      'enableSocks5',
      'enableSocks5Udp',
      'allowUpstreamProxy',
      'mode',
      'allowLocalBinding',
    ]) {
      refused({ [name]: undefined }, new RegExp(`^missing field \`${name}\`$`))
      refused({ [name]: 1 }, new RegExp(`^${name}: expected`))
    }
    refused({ mode: 'open' }, /^mode: expected one of `limited`, `full`$/)
    refused({ domains: [] }, /^domains: expected an object$/)
    refused({ domains: { 'a.test': true } }, /^a.test: expected one of `none`, `allow`, `deny`$/)
    refused({ domains: JSON.parse('{"__proto__": true}') }, /^__proto__: expected one of/)
    refused({ domains: { 'a.*': 'allow' } }, /^domains: "a.\*" is no domain pattern/)
    refused({ domains: { '*': 'deny' } }, /"\*" cannot be denied/)
    refused({ reviewDomains: 'a.test' }, /^reviewDomains: expected an array/)
    refused({ reviewDomains: [1] }, /^reviewDomains: expected an array/)
    const many = Array.from({ length: 10_001 }, (_, i) => `h${i}.test`)
    refused({ domains: Object.fromEntries(many.map((host) => [host, 'allow'])) }, /more than 10000 entries/)
    refused({ reviewDomains: many }, /at most 10000/)
  })

  test('are refused when they ask for what a proxy like ours cannot do', () => {
    refused({ dangerouslyAllowAllUnixSockets: true }, /UNIX sockets cannot be reached/)
    refused({ unixSockets: { '/run/x.sock': 'allow' } }, /UNIX sockets cannot be reached/)
    refused({ credentialMasking: true }, /^credentialMasking: .* leave it out$/)
    refused({ credentialProviders: { x: {} } }, /^credentialProviders: .* leave it out$/)
    proxyRules(wireConfig({ credentialMasking: false, credentialProviders: {}, reviewDomains: null }))
  })
})
