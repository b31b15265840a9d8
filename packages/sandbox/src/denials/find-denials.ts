import type { Policy } from '../policy/bind-policy.ts'
import { normalize } from '../policy/posix-path.ts'
import { candidatePaths } from './candidate-paths.ts'
import type { Denial, DenialReport } from './denial.ts'
import { type ErrorLine, errorLine, speaksOfWriting } from './error-line.ts'
import { type Endpoint, networkFailure } from './network-failure.ts'
import { outputLines } from './output-lines.ts'

/** How a command ended that ran in a sandbox. */
export interface Ending {
  /** 128 + n for the signal n. */
  readonly exitCode: number
  /** The last of what it printed, from the beginning of a line. */
  readonly output: string
  readonly policy: Policy
  /** What relative paths are relative to. The command may have gone elsewhere since. */
  readonly cwd: string
  /** Where a path leads to without symbolic links, as far as it exists. */
  readonly resolve: (path: string) => string
  /** What the proxy did not let through. */
  readonly networkBlocks: readonly NetworkBlock[]
}

interface NetworkBlock {
  readonly host: string
  readonly port: number
  readonly reason: string
}

const SIGSYS = 128 + 31
const MAX_DENIALS = 32
/** Lines that are looked at closely, and paths that are looked up: output must not keep the executor busy. */
const MAX_LINES = 256
const MAX_PATHS = 256
const MAX_PATH_LENGTH = 4096

/**
 * What a command was denied, and by what: found in what it printed, and compared with the policy. A path that the policy
 * allows was denied by somebody else, and is not reported. Nothing was denied to a command that succeeded.
 */
export function findDenials(ending: Ending): DenialReport {
  if (ending.exitCode === 0) return { sandboxDenied: false, denials: [] }
  const denials: Denial[] = ending.networkBlocks.map(({ host, port, reason }) => ({
    kind: 'network',
    host,
    port,
    rule: reason,
    confidence: 'certain',
  }))
  // A code that any command can end with: whether it was the signal, bubblewrap does not say.
  if (ending.exitCode === SIGSYS) denials.push({ kind: 'syscall', rule: 'system call filter', confidence: 'possible' })
  denials.push(...new OutputReader(ending).read())
  const distinct = withoutRepetition(denials).slice(0, MAX_DENIALS)
  return { sandboxDenied: distinct.length > 0, denials: distinct }
}

class OutputReader {
  readonly #ending: Ending
  readonly #lines: readonly string[]
  readonly #resolved = new Map<string, string>()

  constructor(ending: Ending) {
    this.#ending = ending
    this.#lines = outputLines(ending.output)
  }

  read(): Denial[] {
    const { files, network } = this.#ending.policy
    // The first lines of many are the same complaint as the last, and the last are why it gave up.
    const found: Denial[][] = []
    for (let i = this.#lines.length - 1; i >= 0 && found.length < MAX_LINES; i--) {
      const line = this.#lines[i]!
      const failure = networkFailure(line, this.#lines.slice(Math.max(0, i - 2), i))
      if (failure) {
        if (network === 'restricted') found.push([networkDenial(failure)])
        continue
      }
      const error = files && errorLine(line)
      if (error) found.push(this.#fileDenials(error, i))
    }
    return found.reverse().flat()
  }

  #fileDenials(error: ErrorLine, index: number): Denial[] {
    const cause = this.#causeAbove(index)
    const groups = candidatePaths(error)
    if (groups.length === 0 && cause !== undefined)
      groups.push(...candidatePaths({ ...error, before: cause, after: '' }))
    for (const group of groups) {
      const denials = group.flatMap((path) => this.#judge(path, error))
      if (denials.length > 0) return denials
    }
    // Whether a relative path is the one that we take it for, nobody knows: the command may have been elsewhere.
    const isNamed = groups.flat().some((path) => path.startsWith('/'))
    if (error.errno !== 'EROFS' || isNamed) return []
    return [{ kind: 'file', access: 'write', rule: 'the profile limits what can be written', confidence: 'possible' }]
  }

  /** In chains of causes, as programs in Rust print them, the path is in the line that says what was tried. */
  #causeAbove(index: number): string | undefined {
    const above = this.#lines.slice(Math.max(0, index - 2), index).map((line) => line.trim())
    return /^caused by:$/i.test(above[1] ?? '') ? above[0] : undefined
  }

  #judge(path: string, error: ErrorLine): Denial[] {
    const { files } = this.#ending.policy
    const resolved = this.#resolve(path)
    if (!files || resolved === undefined) return []
    const { access, rule } = files.decide(resolved)
    const denied = deniedAccess(access, error)
    return denied ? [{ kind: 'file', path: resolved, access: denied, rule, confidence: 'likely' }] : []
  }

  #resolve(path: string): string | undefined {
    const { cwd, resolve } = this.#ending
    const absolute = normalize(path.startsWith('/') ? path : `${cwd}/${path}`)
    if (absolute === undefined || absolute.length > MAX_PATH_LENGTH) return undefined
    if (!this.#resolved.has(absolute)) {
      if (this.#resolved.size === MAX_PATHS) return undefined
      this.#resolved.set(absolute, resolve(absolute))
    }
    return this.#resolved.get(absolute)
  }
}

/** What of a path the policy must have denied, if it was the policy. */
function deniedAccess(allowed: 'none' | 'read' | 'write', error: ErrorLine): 'read' | 'write' | undefined {
  if (allowed === 'write') return undefined
  const isWriting = error.errno === 'EROFS' || speaksOfWriting(error)
  if (allowed === 'none') return isWriting ? 'write' : 'read'
  // Anybody's permissions can keep anybody from a file that may be read: only a write is ours to deny.
  return isWriting || error.errno === 'EPERM' ? 'write' : undefined
}

function networkDenial({ host, port }: Endpoint): Denial {
  const to = { ...(host !== undefined && { host }), ...(port !== undefined && { port }) }
  return { kind: 'network', ...to, rule: 'network restricted', confidence: 'likely' }
}

/** One for each thing; what is vague is left out if something of its kind is known. */
function withoutRepetition(denials: readonly Denial[]): Denial[] {
  const distinct = new Map<string, Denial>()
  for (const denial of denials) {
    const key = JSON.stringify(
      denial.kind === 'file'
        ? [denial.path, denial.access]
        : denial.kind === 'network'
          ? [denial.host, denial.port]
          : [],
    )
    const id = `${denial.kind} ${key}`
    if (!distinct.has(id)) distinct.set(id, denial)
  }
  const all = [...distinct.values()]
  const isVague = (denial: Denial) =>
    (denial.kind === 'file' && denial.path === undefined) || (denial.kind === 'network' && denial.host === undefined)
  return all.filter((denial) => !isVague(denial) || !all.some((other) => other.kind === denial.kind && !isVague(other)))
}
