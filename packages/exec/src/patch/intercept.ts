import { PatchError } from './patch-error.ts'

/** A patch that a command is nothing but a way to apply. Whether it is a good one is another question. */
export interface ScriptedPatch {
  readonly patch: string
  /** Where the script goes first, relative to where it would have run. */
  readonly cd?: string | undefined
}

/** Sees whether a script is `apply_patch <<'X' … X`, perhaps after `cd <path> &&`, and nothing else. */
export type PatchInScript = (script: string) => Promise<ScriptedPatch | undefined>

const NAMES = new Set(['apply_patch', 'applypatch'])
const SHELLS = new Set(['bash', 'zsh', 'sh'])
const POWERSHELLS = new Set(['pwsh', 'powershell'])

/** Undefined for any other command, which runs as it is. Throws for a patch that lacks the command. */
export async function interceptPatch(
  argv: readonly string[],
  patchInScript: PatchInScript,
): Promise<ScriptedPatch | undefined> {
  const [program = '', text] = argv
  if (argv.length === 1) refuseBarePatch(program)
  if (argv.length === 2 && NAMES.has(program)) return { patch: text! }
  const script = scriptOf(argv)
  if (!script) return undefined
  refuseBarePatch(script.text)
  return script.isPosix ? await patchInScript(script.text) : patchInHereString(script.text)
}

/** The script in `bash -lc …`, `pwsh -NoProfile -Command …`, `cmd /c …`. */
function scriptOf(argv: readonly string[]): { text: string; isPosix: boolean } | undefined {
  const [program = '', ...rest] = argv
  const name = program
    .slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1)
    .toLowerCase()
    .replace(/\.exe$/, '')
  const text = rest.at(-1)
  if (text === undefined) return undefined
  const flags = rest.slice(0, -1).map((flag) => flag.toLowerCase())
  if (SHELLS.has(name)) return flags.length === 1 && /^-l?c$/.test(flags[0]!) ? { text, isPosix: true } : undefined
  if (POWERSHELLS.has(name)) {
    const [last] = flags.splice(-1)
    const isCommand = last === '-command' && flags.every((flag) => flag === '-noprofile')
    return isCommand ? { text, isPosix: false } : undefined
  }
  return name === 'cmd' && flags.length === 1 && flags[0] === '/c' ? { text, isPosix: false } : undefined
}

/**
 * There is no shell of ours that reads these scripts, so only what cannot mean anything else is taken: the command, and
 * a here-document or here-string that holds the rest of the script. `cd` in front may be one plain or quoted path.
 */
function patchInHereString(script: string): ScriptedPatch | undefined {
  const lines = script.trim().split(/\r?\n/)
  const [, plain, single, double, command = ''] = HEAD.exec(lines[0]!) ?? []
  const closing = CLOSINGS.get(command.trim()) ?? /^<<\s*(['"]?)(\w+)\1$/.exec(command.trim())?.[2]
  if (closing === undefined || lines.length < 3 || lines.at(-1) !== closing) return undefined
  const inner = lines.slice(1, -1)
  if (inner.includes(closing)) return undefined
  const cd = plain ?? single ?? double
  return { patch: inner.join('\n'), ...(cd !== undefined && { cd }) }
}

const HEAD = /^(?:cd\s+(?:([\w./\\:-]+)|'([^']+)'|"([^"$`%]+)")\s*&&\s*)?(?:apply_patch|applypatch)\s+(.*)$/
/** What opens a here-string of PowerShell, and what closes it. The other kind expands variables. */
const CLOSINGS: ReadonlyMap<string, string> = new Map([["@'", "'@"]])

/** No shell would make anything good of it. */
function refuseBarePatch(text: string): void {
  if (!/^\*\*\* Begin Patch\s*?(?:\n|$)/.test(text.trimStart())) return
  throw new PatchError(
    'INVALID',
    'patch detected without explicit call to apply_patch. Rerun as ["apply_patch", "<patch>"]',
  )
}
