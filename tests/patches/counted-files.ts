import type { FileSystem } from '@waldo/environment'

export interface CallCount {
  calls: number
  /** How many calls had to wait for another one, and that one for another, and so on. */
  depth: number
}

/** Counts calls, and how many of them are at least made one after the other: the round trips that they take. */
export function countedFiles(files: FileSystem): { files: FileSystem; count: CallCount } {
  const count: CallCount = { calls: 0, depth: 0 }
  /** Of the calls that have been answered. */
  let answered = 0
  const proxy = new Proxy(files, {
    get(target, method: keyof FileSystem) {
      return async (...args: unknown[]) => {
        const depth = answered + 1
        count.calls++
        count.depth = Math.max(count.depth, depth)
        try {
          return await (target[method] as (...args: unknown[]) => Promise<unknown>).apply(target, args)
        } finally {
          answered = Math.max(answered, depth)
        }
      }
    },
  })
  return { files: proxy, count }
}
