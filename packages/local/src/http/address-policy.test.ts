import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { describe, test } from 'node:test'
import { AddressPolicy, type AddressRules } from './address-policy.ts'

/** What may be reached: names stand with the address that they resolve to. */
function policy(rules: Partial<AddressRules> = {}, own: string[] = []) {
  const checked = new AddressPolicy({ mode: 'allow', allow: [], localAllowed: false, ...rules }, () => own)
  return (host: string, port = 80, address = host) => checked.refusal(host, port, address) === undefined
}

const LOOPBACK = ['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '::1', '::', '::ffff:127.0.0.1', '::ffff:0:0']
const HIDDEN_LOOPBACK = ['64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '::127.0.0.1', '2002:7f00:1::', '::ffff:0:127.0.0.1']
const METADATA = [
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  'fd00:ec2::254',
  'fd00:0ec2:0:0:0:0:0:0254',
  '100.100.100.200',
  '168.63.129.16',
  'fd20:ce::254',
]
const LINK_LOCAL = ['169.254.0.1', 'fe80::1', 'fe80::1%eth0', 'febf::1', '64:ff9b::a9fe:1']
const MULTICAST = ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1']
const ORDINARY = ['1.1.1.1', '10.0.0.1', '192.168.1.1', '128.0.0.1', '126.255.255.255', '169.253.0.1', '169.255.0.1']
const ORDINARY_V6 = ['2606:4700::1111', 'fd00::1', 'fec0::1', '::ffff:8.8.8.8', '64:ff9b::808:808', '::2:0:0']

describe('a policy that allows what is not forbidden', () => {
  test('lets ordinary addresses through and nothing else', () => {
    const allows = policy()
    for (const address of [...ORDINARY, ...ORDINARY_V6]) assert.equal(allows(address), true, address)
    for (const address of [...LOOPBACK, ...HIDDEN_LOOPBACK, ...METADATA, ...LINK_LOCAL, ...MULTICAST]) {
      assert.equal(allows(address), false, address)
      assert.equal(allows('innocent.example', 80, address), false, address)
    }
  })

  test('opens the machine itself on demand, but not its neighbours', () => {
    const allows = policy({ localAllowed: true })
    for (const address of [...LOOPBACK, ...HIDDEN_LOOPBACK]) assert.equal(allows(address), true, address)
    for (const address of [...METADATA, ...LINK_LOCAL, ...MULTICAST]) assert.equal(allows(address), false, address)
  })

  test('takes the addresses of its own interfaces for the machine itself', () => {
    const own = ['10.9.8.7', 'fd00::7']
    assert.equal(policy({}, own)('10.9.8.7'), false)
    assert.equal(policy({}, own)('::ffff:10.9.8.7'), false)
    assert.equal(policy({}, own)('fd00:0::7'), false)
    assert.equal(policy({}, own)('10.9.8.8'), true)
    assert.equal(policy({ localAllowed: true }, own)('10.9.8.7'), true)
    const real = new AddressPolicy({ mode: 'allow', allow: [], localAllowed: false })
    for (const { address } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
      assert.notEqual(real.refusal('x', 80, address), undefined, address)
    }
  })

  test('makes exceptions for addresses, whatever they are', () => {
    const allows = policy({ allow: ['127.0.0.1:3000', '169.254.169.254', '[fe80::]:8080', 'ff00::/8', '[::1]:1'] })
    assert.equal(allows('127.0.0.1', 3000), true)
    assert.equal(allows('localhost', 3000, '127.0.0.1'), true)
    assert.equal(allows('localhost', 3000, '::ffff:127.0.0.1'), true)
    assert.equal(allows('127.0.0.1', 3001), false)
    assert.equal(allows('127.0.0.2', 3000), false)
    assert.equal(allows('metadata.google.internal', 80, '169.254.169.254'), true)
    assert.equal(allows('fe80::', 8080), true)
    assert.equal(allows('fe80::1', 8080), false)
    assert.equal(allows('ff02::1'), true)
    assert.equal(allows('::1', 1), true)
    assert.equal(allows('::1', 2), false)
  })

  test('makes exceptions for exact names on this machine, not on the metadata service', () => {
    const allows = policy({ allow: ['localhost:8080', 'api.example.com', '*.example.org'] })
    assert.equal(allows('localhost', 8080, '127.0.0.1'), true)
    assert.equal(allows('LOCALHOST.', 8080, '::1'), true)
    assert.equal(allows('localhost', 8081, '127.0.0.1'), false)
    assert.equal(allows('other', 8080, '127.0.0.1'), false)
    assert.equal(allows('127.0.0.1', 8080), false)
    assert.equal(allows('api.example.com', 80, '127.0.0.1'), true)
    assert.equal(allows('api.example.com', 80, '169.254.169.254'), false)
    assert.equal(allows('api.example.com', 80, 'fe80::1'), false)
    assert.equal(allows('a.example.org', 80, '127.0.0.1'), false)
  })
})

describe('a policy that forbids what is not allowed', () => {
  test('lets through only what the list names', () => {
    const allows = policy({
      mode: 'deny',
      allow: ['api.example.com:443', '*.example.org', '10.0.0.0/8', '2001:db8::/32'],
    })
    assert.equal(allows('api.example.com', 443, '93.184.216.34'), true)
    assert.equal(allows('API.example.com.', 443, '93.184.216.34'), true)
    assert.equal(allows('api.example.com', 80, '93.184.216.34'), false)
    assert.equal(allows('evil-api.example.com', 443, '93.184.216.34'), false)
    assert.equal(allows('api.example.com.evil', 443, '93.184.216.34'), false)
    assert.equal(allows('a.b.example.org', 1234, '1.2.3.4'), true)
    assert.equal(allows('example.org', 1234, '1.2.3.4'), false)
    assert.equal(allows('evilexample.org', 1234, '1.2.3.4'), false)
    assert.equal(allows('a.example.org', 80, '169.254.169.254'), false)
    assert.equal(allows('anything', 80, '10.255.0.1'), true)
    assert.equal(allows('11.0.0.0'), false)
    assert.equal(allows('2001:db8:ffff::1'), true)
    assert.equal(allows('2001:db9::1'), false)
    assert.equal(allows('127.0.0.1'), false)
  })

  test('lets nothing through without a list, but this machine if that is allowed', () => {
    for (const address of [...ORDINARY, ...ORDINARY_V6, ...LOOPBACK]) {
      assert.equal(policy({ mode: 'deny' })(address), false, address)
    }
    assert.equal(policy({ mode: 'deny', localAllowed: true })('127.0.0.1'), true)
    assert.equal(policy({ mode: 'deny', localAllowed: true })('1.1.1.1'), false)
  })
})

test('a refusal names the host, the address, the reason and the flag that helps', () => {
  const refusal = (mode: 'allow' | 'deny', host: string, port: number, address: string) =>
    new AddressPolicy({ mode, allow: [], localAllowed: false }, () => []).refusal(host, port, address)
  assert.equal(
    refusal('allow', 'localhost', 8080, '127.0.0.1'),
    "the executor may not talk to localhost on port 8080: 127.0.0.1 is an address of the executor's own machine; " +
      'start it with --http-allow localhost:8080 to allow this',
  )
  assert.match(
    refusal('allow', 'db', 80, 'fe80::1')!,
    /fe80::1 is a link-local address; .*--http-allow \[fe80::1\]:80 /,
  )
  assert.match(refusal('allow', 'x', 80, '169.254.169.254')!, /metadata service; .*--http-allow 169.254.169.254:80 /)
  assert.match(refusal('allow', '::1', 80, '::1')!, /--http-allow \[::1\]:80 /)
  assert.match(refusal('deny', 'a.example', 443, '1.2.3.4')!, /1.2.3.4 is not on the list.*--http-allow a.example:443 /)
  assert.match(refusal('allow', 'a.example', 443, 'nonsense')!, /is no address/)
})

test('what a refusal suggests does allow it', () => {
  for (const [host, address] of [
    ['localhost', '127.0.0.1'],
    ['::1', '::1'],
    ['db', 'fe80::1'],
    ['metadata', '169.254.169.254'],
    ['all', '224.0.0.1'],
  ] as const) {
    const refuse = (allow: string[]) =>
      new AddressPolicy({ mode: 'deny', allow, localAllowed: false }, () => []).refusal(host, 80, address)
    const suggested = /--http-allow (\S+)/.exec(refuse([])!)![1]!
    assert.equal(refuse([suggested]), undefined, suggested)
  }
})
