import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { FIRST_UNKNOWN_SYSCALL, type SeccompArch, syscallNames, syscallNumber } from './syscalls.ts'

/** The first is only where the machine is of that architecture; the other is what arm64 uses as it is. */
const HEADERS: Record<SeccompArch, string> = {
  x64: '/usr/include/x86_64-linux-gnu/asm/unistd_64.h',
  arm64: '/usr/include/asm-generic/unistd.h',
}

/** The first call behind those that both architectures number alike. */
const FIRST_COMMON = 424

describe('the numbers of system calls', () => {
  for (const [arch, header] of Object.entries(HEADERS) as [SeccompArch, string][]) {
    const skip = existsSync(header) ? false : `${header} is not here: apt-get install -y linux-libc-dev`
    test(`for ${arch} are those of the kernel's headers`, { skip }, () => {
      const found = readFileSync(header, 'utf8').matchAll(/^#define __NR_(\w+)\s+(\d+)$/gm)
      const official = new Map([...found].map(([, name, number]) => [name!, Number(number)]))
      // Older headers do not know the newest calls, which the next test is about.
      const newest = Math.max(...official.values())
      for (const name of syscallNames) {
        const number = syscallNumber(name, arch)
        if (number === undefined || number <= newest) assert.equal(number, official.get(name), name)
      }
    })
  }

  test('are the same on both architectures for all newer calls, and known', () => {
    for (const name of syscallNames) {
      const x64 = syscallNumber(name, 'x64')!
      const arm64 = syscallNumber(name, 'arm64')
      assert.ok(x64 < FIRST_UNKNOWN_SYSCALL, name)
      if (x64 >= FIRST_COMMON || (arm64 ?? 0) >= FIRST_COMMON) assert.equal(x64, arm64, name)
    }
  })
})
