import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ARCHES, AUDIT, NETWORKS, run, type Verdict, verdict } from './fixtures/filter.ts'
import { type SeccompOptions, seccompProgram } from './seccomp-program.ts'
import { FIRST_UNKNOWN_SYSCALL, type SeccompArch, syscallNames, syscallNumber } from './syscalls.ts'

const DEBUGGING = 'ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd'
const MOUNTS =
  'mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount open_tree open_tree_attr mount_setattr setns'
const KERNEL =
  'bpf perf_event_open userfaultfd fanotify_init modify_ldt uselib lookup_dcookie keyctl add_key request_key ' +
  'open_by_handle_at move_pages migrate_pages kexec_load kexec_file_load init_module finit_module delete_module acct ' +
  'reboot swapon swapoff syslog quotactl quotactl_fd settimeofday clock_settime vhangup iopl ioperm'
const ABSENT = 'io_uring_setup io_uring_enter io_uring_register memfd_secret'
const WITHOUT_SOCKETS = 'connect bind listen accept accept4 sendmmsg recvmmsg'

const LOAD = 0x20
const FIRST_ARGUMENT = 16
const NO_INSTRUCTION = 0xff

describe('the filter of system calls', () => {
  for (const network of NETWORKS) {
    test(`with the network ${network}, refuses these calls on both architectures, and permits all others`, () => {
      for (const arch of ARCHES) {
        const expected = new Map<string, Verdict>()
        const expect = (names: string, said: Verdict) => {
          for (const name of names.split(' ')) expected.set(name, said)
        }
        expect(`${DEBUGGING} ${MOUNTS} ${KERNEL}`, 'EPERM')
        expect(`${ABSENT} clone3`, 'ENOSYS')
        // With nothing but zeros, no socket has a family that is allowed.
        expect('socket socketpair', 'EPERM')
        if (network === 'restricted') expect(WITHOUT_SOCKETS, 'EPERM')

        const names = new Map(syscallNames.map((name) => [syscallNumber(name, arch), name]))
        const program = seccompProgram({ arch, network })
        for (let nr = 0; nr < FIRST_UNKNOWN_SYSCALL; nr++) {
          const name = names.get(nr) ?? `call ${nr}`
          const said = verdict(program, { nr, arch: AUDIT[arch] })
          assert.equal(said, expected.get(name) ?? 'allow', `${name} on ${arch}`)
          if (said === 'allow' || name === 'socket' || name === 'socketpair') continue
          // No argument changes that.
          const args = Array(6).fill(0xffff_ffff_ffff_ffffn)
          assert.equal(verdict(program, { nr, arch: AUDIT[arch], args }), said, name)
        }
      }
    })

    test(`with the network ${network}, kills what calls by the numbers of another architecture`, () => {
      for (const arch of ARCHES) {
        const program = seccompProgram({ arch, network })
        const others = [AUDIT.i386, AUDIT.arm, arch === 'x64' ? AUDIT.arm64 : AUDIT.x64, 0, 0xffffffff]
        for (const other of others) {
          for (const nr of [0, 1, 41, 102, 198, 469, 0xffffffff]) {
            assert.equal(verdict(program, { nr, arch: other }), 'kill')
          }
        }
      }
    })

    test(`with the network ${network}, does not know x32 and calls that are newer than its rules`, () => {
      for (const arch of ARCHES) {
        const program = seccompProgram({ arch, network })
        const x32 = syscallNames.map((name) => 0x40000000 + (syscallNumber(name, 'x64') ?? 0))
        for (const nr of [470, 512, 547, 0x40000000, 0x7fffffff, 0x80000000, 0xffffffff, ...x32]) {
          assert.equal(verdict(program, { nr, arch: AUDIT[arch] }), 'ENOSYS', String(nr))
        }
      }
    })
  }

  test('permits debuggers or nested sandboxes where that is asked for, and nothing else with it', () => {
    const refused = (options: Omit<SeccompOptions, 'arch'>, arch: SeccompArch) =>
      syscallNames.filter((name) => {
        const nr = syscallNumber(name, arch)
        // For `clone` and `unshare`, a new user namespace.
        const args = [0x1000_0000n]
        return (
          nr !== undefined && verdict(seccompProgram({ ...options, arch }), { nr, arch: AUDIT[arch], args }) !== 'allow'
        )
      })
    for (const arch of ARCHES) {
      for (const network of NETWORKS) {
        const strict = refused({ network }, arch)
        const without = (names: string) => strict.filter((name) => !names.split(' ').includes(name))
        assert.deepEqual(refused({ network, allowDebugging: false, allowNestedNamespaces: false }, arch), strict)
        assert.deepEqual(refused({ network, allowDebugging: true }, arch), without(DEBUGGING))
        assert.deepEqual(
          refused({ network, allowNestedNamespaces: true }, arch),
          without(`${MOUNTS} clone clone3 unshare`),
        )
      }
    }
  })

  test('permits by the number alone what no rule names, so that the kernel need not run it for that', () => {
    for (const arch of ARCHES) {
      const named = new Set(syscallNames.map((name) => syscallNumber(name, arch)))
      for (const network of NETWORKS) {
        const program = seccompProgram({ arch, network })
        // As the kernel does it when it loads a filter: looking at an argument ends the attempt.
        for (let at = 0; at < program.length; at += 8) {
          if (program[at] === LOAD && program[at + 4]! >= FIRST_ARGUMENT) program[at] = NO_INSTRUCTION
        }
        for (let nr = 0; nr < FIRST_UNKNOWN_SYSCALL; nr++) {
          if (!named.has(nr)) assert.equal(verdict(program, { nr, arch: AUDIT[arch] }), 'allow')
        }
      }
    }
  })

  test('is the same for the same options, and permits what it permits in a few steps', () => {
    for (const arch of ARCHES) {
      for (const network of NETWORKS) {
        const program = seccompProgram({ arch, network })
        assert.deepEqual(seccompProgram({ arch, network }), program)
        for (let nr = 0; nr < FIRST_UNKNOWN_SYSCALL; nr++) {
          const { said, steps } = run(program, { nr, arch: AUDIT[arch] })
          if (said === 'allow') assert.ok(steps <= 16, `call ${nr} on ${arch} takes ${steps} steps`)
        }
      }
    }
  })
})
