import { readFileSync } from 'node:fs'

/** What this process may not exceed itself, and so cannot allow a child. */
export interface InheritedLimits {
  readonly cpuSeconds: number
  readonly fileBytes: number
  readonly processes: number
}

export function readInheritedLimits(): InheritedLimits {
  const table = readFileSync('/proc/self/limits', 'latin1')
  const hardLimit = (title: string) => {
    const [, value] = new RegExp(`^${title} +\\S+ +(\\d+)`, 'm').exec(table) ?? []
    return value === undefined ? Number.POSITIVE_INFINITY : Number(value)
  }
  return {
    cpuSeconds: hardLimit('Max cpu time'),
    fileBytes: hardLimit('Max file size'),
    processes: hardLimit('Max processes'),
  }
}
