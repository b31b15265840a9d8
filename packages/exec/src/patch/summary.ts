import type { Change } from './verified-patch.ts'

/** What is answered when a patch was applied. Paths are as they were written; what was moved is where it is now. */
export function successText(changes: readonly Change[]): string {
  const letters = { add: 'A', update: 'M', move: 'M', delete: 'D' } as const
  const line = (change: Change) => `${letters[change.kind]} ${change.kind === 'move' ? change.toName : change.name}`
  const order = (['A', 'M', 'D'] as const).flatMap((letter) =>
    changes.filter(({ kind }) => letters[kind] === letter).map(line),
  )
  return `Success. Updated the following files:\n${order.map((each) => `${each}\n`).join('')}`
}

/** All diffs, one after the other, as they are shown to whoever decides. */
export function diffText(changes: readonly Change[]): string {
  return changes.map(({ diff }) => diff).join('\n')
}
