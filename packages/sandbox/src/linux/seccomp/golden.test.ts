import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ARCHES, NETWORKS } from './fixtures/filter.ts'
import { seccompProgram } from './seccomp-program.ts'
import { type SeccompArch, syscallNames, syscallNumber } from './syscalls.ts'

const hex = (value: number) => `0x${value.toString(16)}`

/** One line per instruction: its number, its eight bytes, and what they mean. */
function disassemble(program: Uint8Array, arch: SeccompArch): string {
  const names = new Map(syscallNames.map((name) => [syscallNumber(name, arch), name]))
  const view = new DataView(program.buffer)
  let loaded = ''
  const lines: string[] = []
  for (let at = 0; at < program.length; at += 8) {
    const index = at / 8
    const [code, constant] = [view.getUint16(at, true), view.getUint32(at + 4, true)]
    const name = loaded === 'number' ? names.get(constant) : undefined
    const jump = (condition: string) =>
      `if ${loaded} ${condition} then ${index + 1 + program[at + 2]!} else ${index + 1 + program[at + 3]!}`
    let meaning: string
    switch (code) {
      case 0x20:
        loaded = ['number', 'arch'][constant / 4] ?? `${constant % 8 ? 'high' : 'low'}(arg${(constant - 16) >> 3})`
        meaning = `load ${loaded}`
        break
      case 0x54:
        meaning = `and ${hex(constant)}`
        break
      case 0x15:
        meaning = jump(`= ${name ?? hex(constant)}`)
        break
      case 0x35:
        meaning = jump(`>= ${constant}`)
        break
      case 0x45:
        meaning = jump(`& ${hex(constant)}`)
        break
      case 0x06:
        meaning = { 2147418112: 'allow', 2147483648: 'kill', 327681: 'EPERM', 327718: 'ENOSYS' }[constant] ?? '?'
        // Whatever comes next was jumped to from a comparison with the number.
        loaded = 'number'
        break
      default:
        meaning = '?'
    }
    const bytes = Buffer.from(program.subarray(at, at + 8)).toString('hex')
    lines.push(`${String(index).padStart(3)}  ${bytes}  ${meaning}`)
  }
  return `${lines.join('\n')}\n`
}

describe('the bytes of the filter', () => {
  for (const arch of ARCHES) {
    for (const network of NETWORKS) {
      test(`for ${arch} with the network ${network} are those that were reviewed`, () => {
        const file = join(import.meta.dir, 'golden', `${arch}-${network}.txt`)
        const text = disassemble(seccompProgram({ arch, network }), arch)
        // After a change of the rules: run this with WALDO_WRITE_GOLDEN=1, and read the difference.
        if (process.env.WALDO_WRITE_GOLDEN) writeFileSync(file, text)
        assert.equal(text, readFileSync(file, 'utf8'))
      })
    }
  }
})
