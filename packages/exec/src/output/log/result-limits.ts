/** How much text one answer has, at most. */
export const RESULT_MAX_BYTES = 64 * 1024
/** How much of one line. */
export const LINE_MAX_BYTES = 2000

/** Numbers come from a model, too. */
export function wholeNumber(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new RangeError(`\`${name}\` is ${value}: give a whole number from ${min} to ${max}`)
}
