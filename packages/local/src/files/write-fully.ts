import { write } from 'node:fs'

/** Writes all of it, at a place or where the descriptor stands, without anybody else having to wait. */
export async function writeFully(fd: number, content: Uint8Array, position: number | null): Promise<void> {
  for (let written = 0; written < content.length; ) {
    const at = position === null ? null : position + written
    written += await new Promise<number>((resolve, reject) => {
      write(fd, content, written, content.length - written, at, (error, count) =>
        error ? reject(error) : resolve(count),
      )
    })
  }
}
