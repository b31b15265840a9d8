import assert from 'node:assert/strict'
import { type SeccompOptions, seccompProgram } from './seccomp-program.ts'
import { type SeccompArch, type SyscallName, syscallNumber } from './syscalls.ts'

/** For tests: what a filter says, found by running it as the kernel would. */
export type Verdict = 'allow' | 'kill' | 'EPERM' | 'ENOSYS'

export const ARCHES = ['x64', 'arm64'] as const
export const NETWORKS = ['restricted', 'proxy', 'enabled'] as const
export const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003, arm: 0x40000028 }

const VERDICTS = new Map<number, Verdict>([
  [0x7fff0000, 'allow'],
  [0x80000000, 'kill'],
  [0x00050001, 'EPERM'],
  [0x00050026, 'ENOSYS'],
])

/** Fails where the kernel would not take the program. */
export function verdict(program: Uint8Array, call: { nr: number; arch: number; args?: readonly bigint[] }): Verdict {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.nr, true)
  data.setUint32(4, call.arch, true)
  for (const [index, value] of (call.args ?? []).entries()) {
    data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true)
  }
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength)
  let word = 0
  for (let at = 0; at < program.length; at += 8) {
    const constant = code.getUint32(at + 4, true)
    const jumpIf = (holds: boolean) => {
      at += 8 * code.getUint8(at + (holds ? 2 : 3))
    }
    switch (code.getUint16(at, true)) {
      case 0x20:
        assert.equal(constant % 4, 0)
        word = data.getUint32(constant, true)
        break
      case 0x54:
        word = (word & constant) >>> 0
        break
      case 0x15:
        jumpIf(word === constant)
        break
      case 0x35:
        jumpIf(word >= constant)
        break
      case 0x45:
        jumpIf((word & constant) !== 0)
        break
      case 0x06: {
        const said = VERDICTS.get(constant)
        assert.ok(said, `returned 0x${constant.toString(16)}`)
        return said
      }
      default:
        assert.fail(`no such instruction at ${at / 8}`)
    }
  }
  assert.fail('ran over the end')
}

/** What a program of these options says to a call; undefined if the architecture has no such call. */
type Ask = (name: SyscallName, ...args: (number | bigint)[]) => Verdict | undefined

/** Runs `check` for both architectures. */
export function onBoth(options: Omit<SeccompOptions, 'arch'>, check: (ask: Ask, arch: SeccompArch) => void): void {
  for (const arch of ARCHES) {
    const program = seccompProgram({ ...options, arch })
    const ask: Ask = (name, ...args) => {
      const nr = syscallNumber(name, arch)
      return nr === undefined ? undefined : verdict(program, { nr, arch: AUDIT[arch], args: args.map(BigInt) })
    }
    check(ask, arch)
  }
}

/** Adds bits in the half of a register that the kernel does not look at. */
export const high = (value: number) => BigInt(value) | 0xdead_beef_0000_0000n
