import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { high, onBoth } from './fixtures/filter.ts'

const [UNIX, INET, INET6, NETLINK, PACKET, ALG, VSOCK] = [1, 2, 10, 16, 17, 38, 40]
const OTHER_FAMILIES = [0, 3, 4, 9, 15, 30, 31, 44, PACKET, ALG, VSOCK, 0xffff_ffff]
const [STREAM, DGRAM, RAW, SEQPACKET, SOCK_PACKET] = [1, 2, 3, 5, 10]
const NONBLOCK_CLOEXEC = 0x80800

describe('the filter', () => {
  test('makes no socket at all when the network is restricted', () => {
    onBoth({ network: 'restricted' }, (ask) => {
      for (const family of [UNIX, INET, INET6, NETLINK, ...OTHER_FAMILIES]) {
        for (const type of [STREAM, DGRAM, RAW, SEQPACKET]) assert.equal(ask('socket', family, type, 0), 'EPERM')
      }
    })
  })

  test('sends only to the other end when the network is restricted', () => {
    onBoth({ network: 'restricted' }, (ask) => {
      assert.equal(ask('sendto', 3, 0x7fff_0000_1000n, 5, 0, 0, 0), 'allow')
      // Not even to an address of which one half is zero.
      for (const address of [1n, 0x1000n, 0x1_0000_0000n, 0x7fff_0000_0000n, 0x7fff_1234_5678n]) {
        assert.equal(ask('sendto', 3, 0, 5, 0, address, 16), 'EPERM')
      }
    })
    for (const network of ['proxy', 'enabled'] as const) {
      onBoth({ network }, (ask) => assert.equal(ask('sendto', 3, 0, 5, 0, 0x7fff_1234_5678n, 16), 'allow'))
    }
  })

  for (const network of ['restricted', 'proxy'] as const) {
    test(`makes pairs of sockets that cannot reach anybody else when the network is ${network}`, () => {
      onBoth({ network }, (ask) => {
        for (const type of [STREAM, SEQPACKET]) {
          assert.equal(ask('socketpair', UNIX, type, 0), 'allow')
          assert.equal(ask('socketpair', UNIX, type | NONBLOCK_CLOEXEC, 0), 'allow')
          assert.equal(ask('socketpair', high(UNIX), high(type), 0), 'allow')
        }
        for (const type of [DGRAM, RAW, 0, 4, SOCK_PACKET]) {
          assert.equal(ask('socketpair', UNIX, type, 0), 'EPERM')
          assert.equal(ask('socketpair', UNIX, type | NONBLOCK_CLOEXEC, 0), 'EPERM')
          assert.equal(ask('socketpair', UNIX, high(type), 0), 'EPERM')
        }
        for (const family of [INET, INET6, NETLINK, ...OTHER_FAMILIES]) {
          assert.equal(ask('socketpair', family, STREAM, 0), 'EPERM')
          assert.equal(ask('socketpair', high(family), STREAM, 0), 'EPERM')
        }
      })
    })
  }

  test('makes sockets for TCP only when there is a proxy', () => {
    onBoth({ network: 'proxy' }, (ask) => {
      for (const family of [INET, INET6]) {
        for (const protocol of [0, 6]) {
          assert.equal(ask('socket', family, STREAM, protocol), 'allow')
          assert.equal(ask('socket', high(family), high(STREAM | NONBLOCK_CLOEXEC), high(protocol)), 'allow')
        }
        for (const type of [DGRAM, RAW, SEQPACKET, SOCK_PACKET, 0]) {
          assert.equal(ask('socket', family, type, 0), 'EPERM')
          assert.equal(ask('socket', family, high(type | NONBLOCK_CLOEXEC), 0), 'EPERM')
        }
        // SCTP, SMC, MPTCP
        for (const protocol of [132, 256, 262]) {
          assert.equal(ask('socket', family, STREAM, protocol), 'EPERM')
          assert.equal(ask('socket', family, STREAM, high(protocol)), 'EPERM')
        }
      }
      for (const family of [UNIX, NETLINK, ...OTHER_FAMILIES]) {
        assert.equal(ask('socket', family, STREAM, 0), 'EPERM')
        assert.equal(ask('socket', high(family), STREAM, 0), 'EPERM')
      }
    })
  })

  test('makes the sockets of ordinary programs when the network is enabled, and no others', () => {
    onBoth({ network: 'enabled' }, (ask) => {
      for (const family of [UNIX, INET, INET6, NETLINK]) {
        for (const type of [STREAM, DGRAM, RAW, SEQPACKET, DGRAM | NONBLOCK_CLOEXEC]) {
          assert.equal(ask('socket', family, type, 0), 'allow')
          assert.equal(ask('socket', high(family), high(type), 0), 'allow')
        }
        assert.equal(ask('socket', family, SOCK_PACKET, 0), 'EPERM')
        assert.equal(ask('socket', family, high(SOCK_PACKET | NONBLOCK_CLOEXEC), 0), 'EPERM')
      }
      for (const family of OTHER_FAMILIES) {
        for (const type of [STREAM, DGRAM, RAW, SEQPACKET]) {
          assert.equal(ask('socket', family, type, 0), 'EPERM')
          assert.equal(ask('socket', high(family), type, 0), 'EPERM')
        }
      }
      for (const type of [STREAM, DGRAM, SEQPACKET]) {
        assert.equal(ask('socketpair', UNIX, type, 0), 'allow')
        assert.equal(ask('socketpair', INET, type, 0), 'EPERM')
        assert.equal(ask('socketpair', 30, type, 0), 'EPERM')
      }
    })
  })
})
