import { describeAttempt, describeReport, describeVerdict } from '../doctor/describe-report.ts'
import { lookAtMachine } from '../doctor/machine.ts'
import type { AttemptResult, Report } from '../doctor/report.ts'
import { checkStateDirectory } from '../doctor/state-directory.ts'
import type { LeaveError } from '../leave-error.ts'
import { leaveOnSignals } from '../leave-on-signals.ts'
import { ownRuntime } from '../own-runtime.ts'
import { parseCommand } from '../parse-command.ts'
import { print } from '../print.ts'
import { UsageError } from '../usage-error.ts'

const HELP = `Find out what this machine can enforce, and what to do if it cannot

Usage: waldo doctor [--json]

Makes a sandbox as \`waldo serve\` does for commands, shows what can be limited, and then tries to
break out: it writes where it must not, reads what is denied, looks for other processes, connects
to sockets of its own. What gets through does no harm. It takes a second or two, and cleans up.

  ✓ as it should be    ! could be better    ✗ not enforced    – not there, or not tried
  → what to do about it

Run it as the user that \`waldo serve\` is to run as: others have other rights. It exits with 0 if
there is a sandbox and nothing gets out of it, and with 1 otherwise.

Options:
  --json        Everything as one object, for programs
  -h, --help    Show this help`

const SYNTAX = { flags: { json: 'switch', help: 'switch' }, help: 'waldo doctor --help shows how' } as const

export async function doctorCommand(args: string[]): Promise<number> {
  const { flags, operands, rest = [] } = parseCommand(args, SYNTAX)
  if (flags.help) {
    print(HELP)
    return 0
  }
  const [stray] = [...operands, ...rest]
  if (stray !== undefined) throw new UsageError(`doctor: unexpected argument \`${stray}\``, SYNTAX.help)
  // If this ever ended because there is nothing left to wait for, that would be no good news.
  process.exitCode = 1
  const stop = leaveOnSignals()
  try {
    return await examine(flags.json ?? false, stop)
  } catch (error) {
    if (stop.aborted) return (stop.reason as LeaveError).exitCode
    throw error
  }
}

async function examine(json: boolean, signal: AbortSignal): Promise<number> {
  const tell = json ? () => {} : print
  const known = { machine: lookAtMachine(), stateDirectory: checkStateDirectory(ownRuntime().stateDir) }
  const attempts: AttemptResult[] = []
  let report: Report
  if (process.platform === 'linux') {
    const { LinuxDoctor } = await import('../doctor/linux-doctor.ts')
    using doctor = new LinuxDoctor(known.stateDirectory)
    report = { ...known, ...(await doctor.examine(signal)) }
    tell(`${describeReport(report)}\n`)
    if (report.sandbox.available) {
      tell('Attempts to escape')
      for await (const attempt of doctor.tryEscapes(signal)) {
        attempts.push(attempt)
        tell(describeAttempt(attempt))
      }
      tell('')
    }
  } else {
    const reason = `what the sandbox of ${process.platform} can do cannot be tried out yet`
    report = { ...known, sandbox: { available: false, reason, remedy: 'run the executor on Linux' } }
    tell(`${describeReport(report)}\n`)
  }
  const ok = report.sandbox.available && attempts.every(({ outcome }) => outcome === 'held' || outcome === 'skipped')
  if (json) print(JSON.stringify({ ok, ...report, attempts }))
  else print(describeVerdict(report, attempts))
  return ok ? 0 : 1
}
