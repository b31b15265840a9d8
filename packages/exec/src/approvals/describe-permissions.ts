import type { AdditionalPermissions } from '../permissions/additional-permissions.ts'
import { describePath } from './describe-path.ts'
import type { RequestSheet } from './request-sheet.ts'

/** All that can be asked for fits, also in the narrowest columns, with every character spelled out. */
const MAX_ROWS = 32_768

/** Every path by itself: in a list that ends somewhere, the one that matters would stand behind the end. */
export function describePermissions({ network, read, write }: AdditionalPermissions, sheet: RequestSheet): void {
  if (network) sheet.field('network', 'use it')
  let left = MAX_ROWS
  let unseen = 0
  for (const [label, paths] of [
    ['read', read],
    ['write', write],
  ] as const) {
    paths.forEach((path, index) => {
      if (left > 0) left -= sheet.path(index === 0 ? label : '', describePath(path), left)
      else unseen++
    })
  }
  if (unseen > 0) sheet.field('beware', `${unseen} more paths are NOT shown; say no, and let it ask for less`)
}
