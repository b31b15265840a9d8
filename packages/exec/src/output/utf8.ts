const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** What is no UTF-8 becomes U+FFFD. A byte order mark is kept: it was said. */
export function decodeLossy(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** The bytes that `decodeLossy` shows: the given ones, unless some of them are no UTF-8. */
export function validUtf8(bytes: Uint8Array): Uint8Array {
  const text = decodeLossy(bytes)
  return text.includes('\ufffd') ? encoder.encode(text) : bytes
}

export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** The last place at or before `at` that is not inside a character. `bytes` is UTF-8. */
export function boundaryBefore(bytes: Uint8Array, at: number): number {
  let place = at
  while (place > 0 && place < bytes.length && isContinuation(bytes[place]!)) place--
  return place
}

/** The first place at or after `at` that is not inside a character. `bytes` is UTF-8. */
export function boundaryAfter(bytes: Uint8Array, at: number): number {
  let place = at
  while (place < bytes.length && isContinuation(bytes[place]!)) place++
  return place
}

/** How many bytes before `end`, three at most, are the beginning of a character that is not complete there. */
export function incompleteBytes(bytes: Uint8Array, end: number): number {
  for (let back = 1; back <= 3 && back <= end; back++) {
    const byte = bytes[end - back]!
    if (isContinuation(byte)) continue
    return characterBytes(byte) > back ? back : 0
  }
  return 0
}

/** How long a character is that begins with this byte; 1 for a byte that none begins with. */
export function characterBytes(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}

export function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
