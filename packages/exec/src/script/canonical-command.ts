import type { CommandLine } from './segment.ts'
import { powershellScript, shellWrapper } from './shell-wrapper.ts'

/** What an approval is remembered by: the same for one command, with a shell around it or not. */
export function canonicalCommand(argv: readonly string[], line: CommandLine): readonly string[] {
  const powershell = powershellScript(argv)
  if (powershell !== undefined) return ['__waldo_powershell_script__', powershell]
  const wrapper = shellWrapper(argv)
  if (!wrapper) return argv
  const [segment, ...others] = line.kind === 'plain' ? line.segments : []
  const isOneCommand =
    segment && others.length === 0 && segment.assignments.length === 0 && segment.redirects.length === 0
  return isOneCommand ? segment.words : ['__waldo_shell_script__', wrapper.flag, wrapper.script]
}
