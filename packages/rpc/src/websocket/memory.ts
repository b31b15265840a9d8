/** Below this nothing is worth the trouble. */
const LARGE_BYTES = 64 * 1024
/** How long memory is kept for whoever needs it next. */
const KEEP_MS = 1000

let spare: Uint8Array | undefined
let timer: ReturnType<typeof setTimeout> | undefined

/**
 * Memory for at least so many bytes, with anything in it. New pages cost more than what is done with them here, so what
 * `recycle` was given last is used again.
 */
export function allocate(bytes: number): Uint8Array {
  if (!spare || bytes < LARGE_BYTES || bytes > spare.length) return new Uint8Array(bytes)
  const memory = spare
  spare = undefined
  return memory
}

export function recycle(memory: ArrayBufferLike): void {
  if (memory.byteLength < LARGE_BYTES || (spare && spare.length >= memory.byteLength)) return
  spare = new Uint8Array(memory)
  timer ??= setTimeout(() => {
    timer = undefined
    spare = undefined
  }, KEEP_MS)
  // A browser's timer is a number and keeps nothing alive.
  ;(timer as { unref?: () => void }).unref?.()
}

/** Gives memory back that the garbage collector would give back some time. For bytes that nobody else has a view of. */
export function free(bytes: Uint8Array): void {
  // In this order: to ask for the buffer makes one, which small chunks had better do without.
  if (bytes.length < LARGE_BYTES || bytes.length !== bytes.buffer.byteLength) return // Node 20 does not have it.
  ;(bytes.buffer as { transfer?: (bytes: number) => unknown }).transfer?.(0)
}
