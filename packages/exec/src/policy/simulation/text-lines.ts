export interface TextLine {
  readonly number: number
  /** Undefined for one that is too long to be looked at. */
  readonly text: string | undefined
}

/** Lines of a text that comes in pieces. Holds one line at most, and of a line that is too long nothing. */
export async function* textLines(
  chunks: AsyncIterable<string> | Iterable<string>,
  maxCharacters: number,
): AsyncGenerator<TextLine> {
  let number = 1
  let pieces: string[] = []
  let length = 0
  const line = (): TextLine => {
    const text = length > maxCharacters ? undefined : pieces.join('')
    pieces = []
    length = 0
    return { number: number++, text }
  }
  const add = (piece: string) => {
    length += piece.length
    if (length > maxCharacters) pieces = []
    else if (piece !== '') pieces.push(piece)
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      add(chunk.slice(start, end))
      yield line()
      start = end + 1
    }
    add(chunk.slice(start))
  }
  if (length > 0) yield line()
}
