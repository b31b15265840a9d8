/** Longer than any key we know; what is behind it cannot make a key nearer. */
const COMPARED = 64

/** The one of `keys` that takes the fewest insertions, deletions and replacements to get to from `key`. */
export function nearestKey(key: string, keys: readonly string[]): string {
  const typed = key.slice(0, COMPARED).toLowerCase()
  return keys.reduce((best, next) => (distance(typed, next) < distance(typed, best) ? next : best))
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
