/**
 * What draws nothing, or something else than it is: controls, direction marks, fillers, tags, blanks that are no space,
 * halves of a character, and what this runtime does not know.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u
const MARK = /^\p{M}$/u
/** More than any script needs. Towers of them draw over the lines above. */
const MAX_MARKS = 3
const UNSEEN_BUT_LINES = new RegExp(`(?!\\n)(?:${UNSEEN.source})`, 'u')

/** Whether something in it cannot be seen. Ends of lines can. */
export function holdsUnseen(text: string): boolean {
  return UNSEEN_BUT_LINES.test(text)
}

export function isUnseen(character: string): boolean {
  return UNSEEN.test(character)
}

/** Nothing in it can move a cursor, change a direction or hide: what cannot be seen is written as `<U+001B>`. */
export function visibleText(text: string): string {
  let visible = ''
  for (const { shown } of visibleCharacters(text)) visible += shown
  return visible
}

/** Character by character, for whoever has to stop somewhere. */
export function* visibleCharacters(text: string): Generator<{ readonly character: string; readonly shown: string }> {
  let marks = MAX_MARKS
  for (const character of text) {
    const isMark = MARK.test(character)
    marks = isMark ? marks + 1 : 0
    // A mark at the beginning would sit on what we have written before it.
    const isSeen = !isUnseen(character) && (!isMark || marks <= MAX_MARKS)
    yield { character, shown: isSeen ? character : codePoint(character) }
  }
}

function codePoint(character: string): string {
  return `<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}>`
}
