import { existsSync } from 'node:fs'
import type { ChosenEnvironment, Environments } from '../environments.ts'
import { UsageError } from '../usage-error.ts'

/** Where something is copied from or to. */
export type CopyAddress =
  | { readonly kind: 'stdio' }
  | {
      readonly kind: 'path'
      readonly chosen: ChosenEnvironment
      readonly path: string
      /** As people write it: `devbox:`, or nothing for this machine. */
      readonly prefix: string
    }

/**
 * `-`, `ID:path`, `[URL]:path`, or a path of this machine. A name with a colon that is none of ours is a path if there
 * is such a file; otherwise it is more likely a mistake.
 */
export function parseAddress(text: string, environments: Environments): CopyAddress {
  if (text === '') throw new UsageError('a path is empty')
  if (text === '-') return { kind: 'stdio' }
  const [, url, id = url, path = ''] =
    /^(?:\[([a-z]+:\/\/[^\]]*(?:\[[^\]]*\][^\]]*)?)\]|([A-Za-z0-9_-]+)):(.*)$/s.exec(text) ?? []
  if (id === undefined) return localPath(text, environments)
  if (url === undefined && !environments.ids.includes(id)) {
    if (existsSync(text)) return localPath(text, environments)
    throw new UsageError(
      `there is no environment \`${id}\`; there are: ${environments.ids.join(', ')}`,
      `for a file of that name write ./${text}`,
    )
  }
  return { kind: 'path', chosen: environments.choose(id), path, prefix: text.slice(0, text.length - path.length) }
}

function localPath(path: string, environments: Environments): CopyAddress {
  return { kind: 'path', chosen: environments.thisMachine, path, prefix: '' }
}
