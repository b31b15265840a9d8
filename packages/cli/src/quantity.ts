import { UsageError } from './usage-error.ts'

const MILLISECONDS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const BYTES: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

/** `30s`, `12h`, `forever`. Infinity stands for the last. */
export function parseDuration(flag: string, text: string, maxMs: number): number {
  if (text === 'forever') return Number.POSITIVE_INFINITY
  const ms = parse(text, MILLISECONDS)
  if (ms === undefined || ms <= 0) {
    throw new UsageError(`${flag} ${text}: expected a duration such as 30s, 90m, 12h, 7d or forever`)
  }
  if (ms > maxMs) {
    throw new UsageError(`${flag} ${text}: more than ${Math.floor(maxMs / MILLISECONDS.d!)} days; say forever`)
  }
  return ms
}

/** `256MiB`, `4GiB`. */
export function parseSize(flag: string, text: string, minBytes: number): number {
  const bytes = parse(text, BYTES)
  if (bytes === undefined) throw new UsageError(`${flag} ${text}: expected a size such as 64MiB or 4GiB`)
  if (bytes < minBytes) throw new UsageError(`${flag} ${text}: at least ${minBytes / BYTES.MiB!}MiB`)
  return bytes
}

function parse(text: string, units: Record<string, number>): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([A-Za-z]+)$/.exec(text) ?? []
  const factor = unit === undefined ? undefined : Object.hasOwn(units, unit) ? units[unit] : undefined
  return factor === undefined ? undefined : Number(number) * factor
}
