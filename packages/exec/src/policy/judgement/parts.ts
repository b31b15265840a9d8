import { carriesCommand } from '../../script/handed-on.ts'
import { insideOf } from '../../script/inside-of.ts'
import type { CommandLine, Segment } from '../../script/segment.ts'
import { shellWrapper } from '../../script/shell-wrapper.ts'
import type { RuleSet } from '../rules/rule-set.ts'

/**
 * What a part is judged as.
 *
 * `command`: it is run. `shell`: it runs the commands, and is not the usual one. `script`: a whole argv that nobody can
 * see through. `within`: it can be seen in something else. Rules that prompt or forbid hold for it, nothing allows by it.
 */
type PartRole = 'command' | 'shell' | 'script' | 'within'

export interface Part {
  readonly role: PartRole
  readonly segment: Segment
}

export interface CommandToTakeApart {
  readonly argv: readonly string[]
  readonly shell?: string | undefined
}

export interface Parts {
  readonly parts: readonly Part[]
  /** There is more within than is held against the rules that prompt or forbid: it could be what they are about. */
  readonly isUnseen: boolean
}

/** Each is held against every rule for its program. Whoever has more of them hides one. */
const MAX_WITHIN = 1000

/** What of a command line is judged. Of what is seen within, only that which a rule could prompt or forbid. */
export function partsOf(command: CommandToTakeApart, line: CommandLine, rules: RuleSet): Parts {
  const { argv } = command
  const parts: Part[] = []
  if (isUnfamiliarShell(command)) parts.push({ role: 'shell', segment: bare([argv[0]!]) })
  const commands = line.kind === 'plain' ? line.segments : []
  for (const segment of commands) parts.push({ role: 'command', segment })
  // Something is run in any case: of nothing, everything would be allowed.
  if (commands.length === 0) parts.push({ role: 'script', segment: bare(argv) })
  if (rules.longestRestriction === 0) return { parts, isUnseen: false }

  const { within: seen, tooDeep } = insideOf(line)
  const within = new Map<string, Part>()
  for (const words of commandsWithin(commands, seen, rules)) {
    if (within.size > MAX_WITHIN) break
    within.set(JSON.stringify(words), { role: 'within', segment: bare(words) })
  }
  return { parts: [...parts, ...within.values()], isUnseen: tooDeep === true || within.size > MAX_WITHIN }
}

export function bare(words: readonly string[]): Segment {
  return { words, assignments: [], redirects: [] }
}

/** No more words of each than a rule can look at: those of thousands of copies would be millions. */
function* commandsWithin(
  commands: readonly Segment[],
  within: readonly Segment[],
  rules: RuleSet,
): Generator<readonly string[]> {
  for (const { words } of within) {
    if (rules.restricts(words[0])) yield words.slice(0, rules.longestRestriction)
  }
  for (const { words } of [...commands, ...within]) {
    if (!carriesCommand(words)) continue
    // After `sudo`, `env`, `xargs` and the like every word may be the program. It can only make a decision stricter, so
    // it is no harm to take too many for one.
    for (let i = 1; i < words.length; i++) {
      if (rules.restricts(words[i])) yield words.slice(i, i + rules.longestRestriction)
    }
  }
}

/** Anybody may have put it there under that name: what it does with a script is its own matter. */
function isUnfamiliarShell({ argv, shell }: CommandToTakeApart): boolean {
  const [program] = argv
  if (program === undefined || !shellWrapper(argv)) return false
  return program !== shell && !/^\/(?:usr\/)?bin\/[^/]+$/.test(program)
}
