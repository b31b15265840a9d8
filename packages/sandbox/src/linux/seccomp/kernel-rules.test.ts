import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { high, NETWORKS, onBoth } from './fixtures/filter.ts'

describe('whatever the network, the filter', () => {
  for (const network of NETWORKS) {
    test(`(network ${network}) keeps commands from typing into terminals`, () => {
      onBoth({ network }, (ask) => {
        for (const request of [0x5412, 0x541c, 0x5423]) {
          assert.equal(ask('ioctl', 0, request), 'EPERM')
          assert.equal(ask('ioctl', 0, high(request)), 'EPERM')
          // The descriptor and the pointer do not matter.
          assert.equal(ask('ioctl', high(0xffffffff), request, high(0xffffffff)), 'EPERM')
        }
        // TCGETS, TIOCSCTTY, TIOCGWINSZ, FIONREAD, FIOCLEX
        for (const request of [0x5401, 0x540e, 0x5413, 0x541b, 0x5451]) {
          assert.equal(ask('ioctl', 0, request), 'allow')
          assert.equal(ask('ioctl', 0x5412, request, 0x5412), 'allow')
        }
      })
    })

    test(`(network ${network}) refuses new namespaces, and permits processes and threads`, () => {
      onBoth({ network }, (ask) => {
        const [NEWNS, NEWCGROUP, NEWUTS, NEWIPC] = [0x20000, 0x2000000, 0x4000000, 0x8000000]
        const [NEWUSER, NEWPID, NEWNET, NEWTIME] = [0x10000000, 0x20000000, 0x40000000, 0x80]
        const SIGCHLD = 17
        for (const flag of [NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET]) {
          for (const flags of [flag, flag | SIGCHLD, high(flag)]) {
            assert.equal(ask('clone', flags), 'EPERM')
            assert.equal(ask('unshare', flags), 'EPERM')
          }
        }
        assert.equal(ask('unshare', NEWTIME), 'EPERM')
        assert.equal(ask('unshare', high(NEWTIME)), 'EPERM')
        // A flag that some kernel to come may give a meaning.
        assert.equal(ask('unshare', 0x100000), 'EPERM')
        // fork, vfork, a thread of glibc, one with CLONE_IO, which is the highest bit
        for (const flags of [SIGCHLD, 0x01200011, 0x4111, 0x003d0f00, 0x803d0f00]) {
          assert.equal(ask('clone', flags, NEWUSER, NEWUSER), 'allow')
        }
        // CLONE_FS, CLONE_FILES, CLONE_SYSVSEM
        for (const flags of [0, 0x200, 0x400, 0x40000, 0x40600]) assert.equal(ask('unshare', flags), 'allow')
      })
    })

    test(`(network ${network}) does not let programs be marked as setuid`, () => {
      onBoth({ network }, (ask, arch) => {
        const calls = [
          (mode: number | bigint) => ask('chmod', 0x800, mode),
          (mode: number | bigint) => ask('fchmod', 0x800, mode),
          (mode: number | bigint) => ask('fchmodat', 0x800, 0x800, mode, 0x800),
          (mode: number | bigint) => ask('fchmodat2', 0x800, 0x800, mode, 0x800),
        ]
        // There is no `chmod` on arm64.
        for (const call of arch === 'x64' ? calls : calls.slice(1)) {
          for (const mode of [0o4755, 0o6755, 0o4000, high(0o4755), 0o104755]) assert.equal(call(mode), 'EPERM')
          for (const mode of [0, 0o755, 0o1777, 0o2775, 0o100644, high(0o755)]) assert.equal(call(mode), 'allow')
        }
      })
    })
  }
})
