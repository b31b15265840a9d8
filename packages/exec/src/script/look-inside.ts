import type { BashGrammar } from './bash-grammar.ts'
import { scriptsIn } from './handed-on.ts'
import type { Inside, Segment } from './segment.ts'
import { type Visible, visibleCommands } from './visible-commands.ts'

/** Shells in shells: nobody nests more of them but to hide something. */
const MAX_DEPTH = 8
const MAX_SCRIPTS = 64
const MAX_SEGMENTS = 2048

/** What can be seen of the commands that these hand on, and that those hand on, and so on. */
export async function lookInside(grammar: BashGrammar, { segments, scripts }: Visible): Promise<Inside> {
  const within: Segment[] = []
  let isCut = false
  let looked = 0
  let layer = [...scripts, ...segments.flatMap(({ words }) => scriptsIn(words))]
  for (let depth = 1; layer.length > 0 && !isCut; depth++) {
    const next: string[] = []
    for (const script of layer) {
      const visible =
        depth > MAX_DEPTH || ++looked > MAX_SCRIPTS ? undefined : await grammar.parse(script, visibleCommands)
      if (!visible || within.length + visible.segments.length > MAX_SEGMENTS) {
        isCut = true
        break
      }
      within.push(...visible.segments)
      next.push(...visible.scripts, ...visible.segments.flatMap(({ words }) => scriptsIn(words)))
    }
    layer = next
  }
  return { within, ...(isCut ? { tooDeep: true as const } : {}) }
}
