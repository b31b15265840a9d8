import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BpfAssembler, Label } from './bpf-assembler.ts'

describe('the assembler', () => {
  test('writes eight bytes per instruction, as the kernel reads them', () => {
    const assembler = new BpfAssembler()
    const end = new Label()
    assembler.load(16)
    assembler.and(0xf)
    assembler.jump('anyBit', 0x8000_0001, { no: end })
    assembler.return(0x0005_0001)
    assembler.place(end)
    assembler.return(0x7fff_0000)
    assert.equal(
      Buffer.from(assembler.assemble()).toString('hex'),
      ['2000000010000000', '540000000f000000', '4500000101000080', '0600000001000500', '060000000000ff7f'].join(''),
    )
  })

  test('jumps over 255 instructions, and refuses one more', () => {
    const jumpOver = (count: number) => {
      const assembler = new BpfAssembler()
      const end = new Label()
      assembler.jump('equal', 1, { yes: end })
      for (let i = 0; i < count; i++) assembler.load(0)
      assembler.place(end)
      assembler.return(0)
      return assembler.assemble()
    }
    assert.equal(jumpOver(255)[2], 255)
    assert.throws(() => jumpOver(256), /jump at instruction 0: 256 is not within 0 and 255/)
  })

  test('refuses to jump backwards, to nowhere, or behind the end', () => {
    const backwards = new BpfAssembler()
    const start = new Label()
    backwards.place(start)
    backwards.load(0)
    backwards.jump('equal', 1, { yes: start })
    assert.throws(() => backwards.assemble(), /jump at instruction 1: -2 is not within/)

    const nowhere = new BpfAssembler()
    nowhere.jump('equal', 1, { no: new Label() })
    assert.throws(() => nowhere.assemble(), /jump at instruction 0: nothing was placed/)

    const behind = new BpfAssembler()
    const end = new Label()
    behind.jump('equal', 1, { no: end })
    behind.place(end)
    assert.throws(() => behind.assemble(), /jump at instruction 0: nothing was placed/)
  })

  test('refuses a program that is too long for the kernel', () => {
    const assembler = new BpfAssembler()
    for (let i = 0; i < 4096; i++) assembler.return(0)
    assert.equal(assembler.assemble().length, 4096 * 8)
    assembler.return(0)
    assert.throws(() => assembler.assemble(), /4097 instructions: the kernel takes 4096/)
  })
})
