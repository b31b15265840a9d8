/** Comparing files takes time, and often nobody wants to see it: `diff` is computed when it is looked at first. */
export function withLazyDiff<T extends object>(change: T, compute: () => string): T & { readonly diff: string } {
  let diff: string | undefined
  return {
    ...change,
    get diff() {
      diff ??= compute()
      return diff
    },
  }
}
