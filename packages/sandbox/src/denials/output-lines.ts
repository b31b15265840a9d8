const ESCAPE = '\u001b'
/** Colours, cursor movements, and titles of windows. */
const SEQUENCES = new RegExp(`${ESCAPE}(?:\\[[0-9;?]*[@-~]|\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\))`, 'g')

/** What a command has printed, line by line, as somebody would read it on a terminal. */
export function outputLines(output: string): string[] {
  return output.replace(SEQUENCES, '').split(/[\r\n]+/)
}
