import type { AttemptResult, Finding, LimitFinding, LimitKind, Report } from './report.ts'

type Mark = '✓' | '!' | '✗' | '–'
interface Row {
  readonly mark: Mark
  readonly label: string
  readonly text: string
  /** What to do about it, in lines of its own. */
  readonly remedy?: string | undefined
}

const LIMITS: Readonly<Record<LimitKind, string>> = {
  memoryBytes: 'memory',
  processes: 'processes',
  cpuSeconds: 'CPU time',
  fileBytes: 'file size',
  wallMs: 'duration',
}

const MEANS: Readonly<Record<LimitFinding['by'], string>> = {
  cgroup1: 'control group (v1)',
  cgroup2: 'control group (v2)',
  rlimit: 'rlimit of each process',
  timer: 'timer',
  none: 'cannot be limited',
}

/** For people: a line for each thing, and one more for what to do about it. */
export function describeReport(report: Report): string {
  const { version, platform, arch, kernel } = report.machine
  const limits = limitRows(report)
  return [
    `waldo ${version} on ${platform} ${arch}, kernel ${kernel}`,
    '',
    table(machineRows(report)),
    ...(limits.length > 0 ? ['', 'Limits', table(limits)] : []),
  ].join('\n')
}

export function describeAttempt({ attempt, outcome, detail }: AttemptResult): string {
  switch (outcome) {
    case 'held':
      return `  ✓ cannot ${attempt}`
    case 'escaped':
      return `  ✗ can ${attempt}: ${detail}`
    case 'failed':
      return `  ✗ unknown whether one can ${attempt}: ${detail}`
    case 'skipped':
      return `  – ${attempt}: skipped, ${detail}`
  }
}

export function describeVerdict({ sandbox }: Report, attempts: readonly AttemptResult[]): string {
  if (!sandbox.available) return 'There is no sandbox here: whatever asks for one is refused.'
  const count = (outcome: AttemptResult['outcome']) => attempts.filter((each) => each.outcome === outcome).length
  const [escaped, failed, skipped] = [count('escaped'), count('failed'), count('skipped')]
  if (escaped > 0)
    return `The sandbox leaks (${escaped} of ${attempts.length}): run nothing here that you do not trust.`
  if (failed > 0) return `The sandbox does not work here (${failed} of ${attempts.length}).`
  return `The sandbox holds: ${count('held')} attempts to escape, all in vain${skipped > 0 ? `; ${skipped} skipped` : ''}.`
}

function machineRows(report: Report): Row[] {
  const { jobControl, managedNetwork } = report
  return [
    userRow(report),
    ...sandboxRows(report),
    ...(jobControl ? [findingRow('Ctrl-C and jobs', jobControl, 'work on terminals in a sandbox')] : []),
    ...(managedNetwork
      ? [findingRow('managed network', managedNetwork, `works; the first takes ${msOf(managedNetwork)} ms`)]
      : []),
    stateRow(report),
    searchRow(report),
  ]
}

function userRow({ machine: { user } }: Report): Row {
  const label = 'user'
  const name = user.name === null ? `uid ${user.uid}` : `${user.name} (uid ${user.uid})`
  if (user.uid !== 0) return { mark: '✓', label, text: name }
  return {
    mark: '!',
    label,
    text: `${name}: a command in a sandbox is root, too, though without capabilities`,
    remedy: 'useradd --system --create-home waldo; runuser -u waldo -- waldo serve',
  }
}

function sandboxRows({ sandbox }: Report): Row[] {
  const { available, mechanism, version, landlock, reason, remedy } = sandbox
  if (!available) return [{ mark: '✗', label: 'sandbox', text: `none: ${reason}`, remedy }]
  return [
    { mark: '✓', label: 'sandbox', text: `${mechanism} ${version}` },
    landlock === undefined
      ? { mark: '–', label: 'Landlock', text: 'not in this kernel, or switched off' }
      : { mark: '✓', label: 'Landlock', text: `version ${landlock}` },
  ]
}

function findingRow(label: string, finding: Finding, text: string): Row {
  if (finding.works) return { mark: '✓', label, text }
  return { mark: '!', label, text: finding.reason, remedy: finding.remedy }
}

const msOf = (finding: Finding) => (finding.works ? finding.ms : 0)

function stateRow({ stateDirectory: { path, isWritable, isPrivate, reason, remedy } }: Report): Row {
  const label = 'state directory'
  if (isWritable && isPrivate) return { mark: '✓', label, text: `${path}, private` }
  return { mark: isWritable ? '!' : '✗', label, text: `${path}: ${reason}`, remedy }
}

function searchRow({ machine: { ripgrep } }: Report): Row {
  const label = 'search'
  if (ripgrep !== null) return { mark: '✓', label, text: `ripgrep (${ripgrep})` }
  return { mark: '–', label, text: 'our own; it is faster with ripgrep', remedy: 'apt-get install ripgrep' }
}

function limitRows({ limits, sandbox }: Report): Row[] {
  if (!limits) return []
  return (Object.keys(LIMITS) as LimitKind[]).map((kind) => {
    const { by, reason } = limits[kind]
    const label = LIMITS[kind]
    if (by === 'none') {
      const [why, ...remedies] = (reason ?? '').split('; ')
      return { mark: '!', label, text: `${MEANS[by]}: ${why}`, remedy: remedies.join('; ') || undefined }
    }
    // The kernel counts all processes of a user, wherever that is: in a sandbox nobody else is there.
    if (kind !== 'processes' || by !== 'rlimit') return { mark: '✓', label, text: MEANS[by] }
    return { mark: sandbox.available ? '✓' : '!', label, text: 'rlimit, in a sandbox only' }
  })
}

const WIDTH = 100
const LABEL = 17
const TEXT_INDENT = ' '.repeat(4 + LABEL)
const REMEDY_INDENT = ' '.repeat(6)

function table(rows: readonly Row[]): string {
  return rows
    .flatMap(({ mark, label, text, remedy }) => [
      `  ${mark} ${label.padEnd(LABEL)}${wrap(text).join(`\n${TEXT_INDENT}`)}`,
      ...(remedy === undefined ? [] : [`    → ${divide(remedy).join(`\n${REMEDY_INDENT}`)}`]),
    ])
    .join('\n')
}

function wrap(text: string): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    const fits = last !== undefined && TEXT_INDENT.length + last.length + 1 + word.length <= WIDTH
    if (fits) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Not within a command, which somebody may want to copy. */
function divide(remedy: string): string[] {
  return REMEDY_INDENT.length + remedy.length <= WIDTH ? [remedy] : remedy.split(/(?<=[:;,]) /)
}
