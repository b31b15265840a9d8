import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { describe, test } from 'node:test'
import { addressKind } from './address-kind.ts'

describe('an address', () => {
  test('is public, local or special by where it leads, also through a gateway', () => {
    const addresses = {
      public: [
        ...['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255', '128.0.0.0'],
        ...['172.15.255.255', '172.32.0.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0'],
        ...['223.255.255.255', '2606:4700::1111', '2a00::', '2001:200::1', '::ffff:8.8.8.8', '::8.8.8.8'],
        ...['64:ff9b::808:808', '2002:808:808::1', '::ffff:0:808:808'],
      ],
      local: [
        ...['127.0.0.1', '127.255.255.255', '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1'],
        ...['172.16.0.1', '172.31.255.255', '192.168.0.1', '::1', '::', 'fc00::1', 'fdff::1', 'fec0::1'],
        ...['::ffff:127.0.0.1', '::ffff:a00:1', '::127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::10.0.0.1'],
        ...['2002:7f00:1::', '2002:c0a8:1::1', '::ffff:0:7f00:1'],
      ],
      special: [
        ...['169.254.169.254', '169.254.0.1', '169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
        ...['192.0.0.1', '192.0.2.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '192.88.99.1'],
        ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'fe80::1', 'fe80::1%eth0', 'ff02::1'],
        ...['fd00:ec2::254', 'fd20:ce::254', '2001:db8::1', '2001::1', '100::1', '5f00::1', '3fff::1'],
        ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::1', 'no address', '', '1.2.3'],
      ],
    }
    for (const [kind, texts] of Object.entries(addresses)) {
      for (const text of texts) assert.equal(addressKind(text), kind, text)
    }
  })

  test('of one of our own interfaces is never public', () => {
    for (const { address } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
      assert.notEqual(addressKind(address), 'public', address)
    }
  })
})
