import type { CommandLine } from './segment.ts'
import { powershellScript, shellWrapper } from './shell-wrapper.ts'

/** A command in its own words, or a script. Two shapes: no words of a command can look like a script. */
export type CanonicalCommand =
  | { readonly flags: readonly string[]; readonly words: readonly string[] }
  | { readonly flags: readonly string[]; readonly script: string }

/** What an approval is remembered by: the same for one command however it is quoted. `flags` are those of the shell. */
export function canonicalCommand(argv: readonly string[], line: CommandLine): CanonicalCommand {
  const powershell = powershellScript(argv)
  if (powershell !== undefined) return { flags: argv.slice(1, -1), script: powershell }
  const wrapper = shellWrapper(argv)
  if (!wrapper) return { flags: [], words: argv }
  const flags = [wrapper.flag]
  const [segment, ...others] = line.kind === 'plain' ? line.segments : []
  const isOneCommand =
    segment && others.length === 0 && segment.assignments.length === 0 && segment.redirects.length === 0
  return isOneCommand ? { flags, words: segment.words } : { flags, script: wrapper.script }
}
