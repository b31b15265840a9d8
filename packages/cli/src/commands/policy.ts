import { RulesError } from '@waldo/exec'
import { checkCommand } from '../policy/check-command.ts'
import { describeProblem } from '../policy/rules-problems.ts'
import { showRules } from '../policy/show-rules.ts'
import { simulateLog } from '../policy/simulate-log.ts'
import { testRules } from '../policy/test-rules.ts'
import { print, printError } from '../print.ts'
import { UsageError } from '../usage-error.ts'

const HELP = `Ask the rules for commands: what would happen, and why

Usage: waldo policy check [options] [--] COMMAND [ARGUMENT...]
       waldo policy check [options] -c SCRIPT
       waldo policy test [options]
       waldo policy show [options]
       waldo policy simulate --log FILE [--against DIR or FILE]... [options]

  waldo policy check -- git push                  may it run, inside the sandbox or outside, and why?
  waldo policy check -c 'make > log && git push'  the same for a script of bash
  waldo policy test --rules ci/rules              are the rules what whoever wrote them believes?
  waldo policy simulate --log commands.jsonl --against new.rules

check     Judges a command as a tool call of a model is judged. Runs nothing. Exits with 0 if it is
          allowed, 10 if somebody would be asked, 20 if it is forbidden.
test      Reads all rules and checks their examples (match, not_match). Exits with 1 on any problem.
show      Lists the rules that hold, where each is written, and where rules could be.
simulate  Judges recorded commands by the rules that hold and by those of --against, and shows what
          would be different. Without --against: what the rules that hold change at all. The log has
          an object a line: {"argv": [...]} or {"cmd": "..."}, with "sandbox_permissions" if there are.

Which rules:
  --rules DIR or FILE       These and no others; may be given several times
  --cwd DIR                 The project is there, and not here
  --no-project              Leave the project's rules out: somebody else wrote them
  --starter                 Add the rules that are shipped: commands that only read, inside the sandbox

Which call:
  --approval POLICY         on-request (default), untrusted, never, or what may be asked about:
                            granular:sandbox, granular:rules, granular:sandbox,rules
                            (on-failure is taken for on-request)
  --sandbox MODE            workspace (default), read-only or full-access
  --escalated               check: the call asks to run outside of its sandbox

  --json                    For programs; simulate prints an object a line
  -h, --help                Show this help

Rules are *.rules in /etc/waldo/rules, in rules of the directory where waldo env keeps environments
($WALDO_HOME, $XDG_CONFIG_HOME/waldo or ~/.config/waldo), and in .waldo/rules of the project: where
you are, or --cwd. All of them count, and the strictest decides. If one file is wrong, none can be
used: then all of these but test exit with 1. A wrong option: 2. The language is described in
docs/policy.md.`

/** Who has so many does not read on. */
const MAX_PROBLEMS = 50
const HINT = 'waldo policy --help shows how'

export async function policyCommand([action, ...args]: string[]): Promise<number> {
  try {
    return await dispatch(action, args)
  } catch (error) {
    if (error instanceof RulesError) {
      for (const problem of error.problems.slice(0, MAX_PROBLEMS)) printError(describeProblem(problem))
      const more = error.problems.length - MAX_PROBLEMS
      if (more > 0) printError(`… and ${more} more`)
      printError('Error: the rules cannot be used')
      return 1
    }
    if (!(error instanceof UsageError)) throw error
    printError(`Error: ${error.message}${error.hint === '' ? '' : `\n${error.hint}`}`)
    return 2
  }
}

async function dispatch(action: string | undefined, args: string[]): Promise<number> {
  // Only its own parser knows where the command begins that is to be judged: its `--help` is not for us.
  if (action === 'check') return (await checkCommand(args, HINT)) ?? showHelp()
  if ([action, ...args].some((arg) => arg === '--help' || arg === '-h')) return showHelp()
  switch (action) {
    case 'test':
      return testRules(args, HINT)
    case 'show':
      return showRules(args, HINT)
    case 'simulate':
      return simulateLog(args, HINT)
    case undefined:
      printError(HELP)
      return 2
    default:
      throw new UsageError(`unknown command \`policy ${action}\`; expected check, test, show or simulate`, HINT)
  }
}

function showHelp(): number {
  print(HELP)
  return 0
}
