import { readInto } from './read-file.ts'
import { writeFully } from './write-fully.ts'

const PIECE_BYTES = 1024 * 1024
const ZEROS = Buffer.alloc(4096)

/** Copies from one open file to another, without anybody having to wait. Returns the length. */
export async function copyContent(from: number, to: number): Promise<number> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (let offset = 0; ; ) {
    const read = await readInto(from, piece, offset)
    if (read === 0) return offset
    const content = piece.subarray(0, read)
    // What is zero is left out, so that a sparse file stays one.
    if (!isZero(content)) await writeFully(to, content, offset)
    offset += read
  }
}

function isZero(bytes: Buffer): boolean {
  for (let start = 0; start < bytes.length; start += ZEROS.length) {
    const part = bytes.subarray(start, start + ZEROS.length)
    if (Buffer.compare(part, ZEROS.subarray(0, part.length)) !== 0) return false
  }
  return true
}
