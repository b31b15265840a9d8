/** Bun and Node have it, and it makes a string without making a view first; others do not. */
type SliceUtf8 = (this: Uint8Array, start: number, end: number) => string
const { Buffer } = globalThis as { Buffer?: { readonly prototype: { readonly utf8Slice?: SliceUtf8 } } }
const sliceUtf8 = Buffer?.prototype.utf8Slice
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that the bytes from `start` to `end` are; undefined if they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (sliceUtf8) {
    const text = sliceUtf8.call(bytes, start, end)
    // What is no UTF-8 has become a replacement character, unless the sender has written one itself.
    if (!text.includes('\ufffd')) return text
  }
  try {
    return strict.decode(bytes.subarray(start, end))
  } catch {
    return undefined
  }
}
