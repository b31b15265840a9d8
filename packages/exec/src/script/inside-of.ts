import type { CommandLine, Inside } from './segment.ts'

/** All that is known of code within a command line, whichever of its commands hands it on. */
export function insideOf(line: CommandLine): Inside {
  if (line.kind === 'opaque') return line
  const inside = line.segments.flatMap((segment) => segment.inside ?? [])
  const isCut = inside.some(({ tooDeep }) => tooDeep)
  return { within: inside.flatMap(({ within }) => within), ...(isCut && { tooDeep: true }) }
}
