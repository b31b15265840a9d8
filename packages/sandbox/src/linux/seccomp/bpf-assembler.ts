/** How the loaded word is compared with a constant. */
export type Comparison = 'equal' | 'atLeast' | 'anyBit'

interface Instruction {
  readonly code: number
  readonly constant: number
  readonly yes?: Label | undefined
  readonly no?: Label | undefined
}

const LOAD_WORD = 0x20
const AND = 0x54
const RETURN = 0x06
const JUMP: Record<Comparison, number> = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 }

const BYTES_PER_INSTRUCTION = 8
const MAX_INSTRUCTIONS = 4096
const MAX_JUMP = 255

/** A place in a program that can be jumped to before it is known where it will be. */
export class Label {}

/** Writes programs for the classic Berkeley Packet Filter, the language of seccomp. They can only jump forwards. */
export class BpfAssembler {
  readonly #instructions: Instruction[] = []
  readonly #positions = new Map<Label, number>()

  /** From here on, comparisons are with the 32-bit word at `offset` of the input. */
  load(offset: number): void {
    this.#instructions.push({ code: LOAD_WORD, constant: offset })
  }

  /** Clears all bits of the loaded word but those of `mask`. */
  and(mask: number): void {
    this.#instructions.push({ code: AND, constant: mask })
  }

  /** Where no label is given, the program goes on with the next instruction. */
  jump(comparison: Comparison, constant: number, to: { yes?: Label; no?: Label }): void {
    this.#instructions.push({ code: JUMP[comparison], constant, yes: to.yes, no: to.no })
  }

  return(value: number): void {
    this.#instructions.push({ code: RETURN, constant: value })
  }

  /** Gives the next instruction a name. */
  place(label: Label): void {
    this.#positions.set(label, this.#instructions.length)
  }

  assemble(): Uint8Array<ArrayBuffer> {
    const count = this.#instructions.length
    if (count > MAX_INSTRUCTIONS) {
      throw new Error(`Cannot assemble ${count} instructions: the kernel takes ${MAX_INSTRUCTIONS}, split the rules`)
    }
    const program = new Uint8Array(count * BYTES_PER_INSTRUCTION)
    const view = new DataView(program.buffer)
    for (const [index, { code, constant, yes, no }] of this.#instructions.entries()) {
      const at = index * BYTES_PER_INSTRUCTION
      view.setUint16(at, code, true)
      view.setUint8(at + 2, this.#distance(index, yes))
      view.setUint8(at + 3, this.#distance(index, no))
      view.setUint32(at + 4, constant, true)
    }
    return program
  }

  /** Stored in one byte, so a longer one would silently lead somewhere else. */
  #distance(from: number, label: Label | undefined): number {
    if (label === undefined) return 0
    const target = this.#positions.get(label)
    if (target === undefined || target >= this.#instructions.length) {
      throw new Error(`Cannot assemble the jump at instruction ${from}: nothing was placed at its label`)
    }
    const distance = target - from - 1
    if (distance < 0 || distance > MAX_JUMP) {
      throw new Error(`Cannot assemble the jump at instruction ${from}: ${distance} is not within 0 and ${MAX_JUMP}`)
    }
    return distance
  }
}
