/**
 * Text for the person at the keyboard. `console` and neither `process.stdout` nor `node:fs`: loading those takes Bun
 * longer than everything else that happens before the server listens.
 */
export function print(text: string): void {
  console.log(text)
}

export function printError(text: string): void {
  console.error(text)
}
