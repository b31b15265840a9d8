import { PatchError } from '../patch/patch-error.ts'
import { readLiteralWord } from '../script/literal-word.ts'
import { patchInScript, type ScriptedPatch } from '../script/patch-in-script.ts'
import type { ShellFamily } from '../unified-exec/shell-argv.ts'

/** Undefined for any other command, which runs as it is. Throws for a patch that lacks the command. */
export async function patchInCommand(cmd: string, family: ShellFamily): Promise<ScriptedPatch | undefined> {
  // No shell would make anything good of it.
  if (/^\*\*\* Begin Patch\s*?(?:\n|$)/.test(cmd.trimStart())) {
    const instead = "call the tool apply_patch, or write apply_patch <<'EOF' … EOF"
    throw new PatchError('INVALID', `patch detected without explicit call to apply_patch: ${instead}`)
  }
  if (family !== 'posix') return patchInHereString(cmd)
  return (await patchInScript(cmd)) ?? patchInArgument(cmd)
}

/** `apply_patch '…'`, and nothing else. */
function patchInArgument(cmd: string): ScriptedPatch | undefined {
  const [head] = /^\s*(?:apply_patch|applypatch)[ \t]+(?=['"])/.exec(cmd) ?? []
  if (head === undefined) return undefined
  const word = readLiteralWord(cmd, head.length)
  return 'what' in word || cmd.slice(word.end).trim() !== '' ? undefined : { patch: word.value }
}

const HEAD = /^(?:cd\s+(?:([\w./\\:-]+)|'([^']+)'|"([^"$`%]+)")\s*&&\s*)?(?:apply_patch|applypatch)\s+(.*)$/

/**
 * There is no shell of ours that reads these scripts, so only what cannot mean anything else is taken: the command, and
 * a here-document or here-string that holds the rest of the script. `cd` in front may be one plain or quoted path.
 */
function patchInHereString(script: string): ScriptedPatch | undefined {
  const lines = script.trim().split(/\r?\n/)
  const [, plain, single, double, command = ''] = HEAD.exec(lines[0]!) ?? []
  // The other here-string of PowerShell expands variables.
  const closing = command.trim() === "@'" ? "'@" : /^<<\s*(['"]?)(\w+)\1$/.exec(command.trim())?.[2]
  if (closing === undefined || lines.length < 3 || lines.at(-1) !== closing) return undefined
  const inner = lines.slice(1, -1)
  if (inner.includes(closing)) return undefined
  const cd = plain ?? single ?? double
  return { patch: inner.join('\n'), ...(cd !== undefined && { cd }) }
}
