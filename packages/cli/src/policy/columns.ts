/** Where there is no terminal it is for reading later, or for another program. */
const WITHOUT_TERMINAL = 200

export function columns(): number {
  return process.stdout.columns ?? WITHOUT_TERMINAL
}
