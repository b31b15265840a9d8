import { visibleText } from '@waldo/exec'

/** What files and patches hold must not act on a terminal. Lines and columns stay what they are. */
export function terminalText(text: string): string {
  return text
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : visibleText(part)))
    .join('')
}
