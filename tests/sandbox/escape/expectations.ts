import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync } from 'node:fs'
import type { Answer, Observed } from './connection.ts'
import type { AnswerExpectation, Expectation, HostCheck } from './probe.ts'
import { isAlive, processesRunning } from './processes.ts'

/** Each function returns why the expectation does not hold; nothing is good. */
type Reasons = string[]

const all = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : ([value].flat() as T[])

export function judgeOutput(expect: Expectation, output: string, { exitCode, closed }: Observed): Reasons {
  const reasons: Reasons = []
  if (!closed) reasons.push('it did not end in time')
  for (const text of all(expect.stdout_lacks)) if (output.includes(text)) reasons.push(`it prints ${text}`)
  for (const text of all(expect.stdout_has)) if (!output.includes(text)) reasons.push(`it does not print ${text}`)
  if (expect.exit !== undefined && exitCode !== expect.exit) {
    reasons.push(`its exit code is ${exitCode} instead of ${expect.exit}`)
  }
  return reasons
}

export function judgeAnswer(expect: AnswerExpectation, { result, error, ms }: Answer): Reasons {
  const reasons: Reasons = []
  if (expect.rpc === 'ok' && error) reasons.push(`refused: ${error.code} ${error.message}`)
  if (expect.rpc === 'error' && !error) reasons.push(`answered with success: ${JSON.stringify(result).slice(0, 200)}`)
  const codes = all(expect.code)
  if (error && codes.length > 0 && !codes.includes(error.code)) {
    reasons.push(`error ${error.code} (${error.message}) instead of ${codes.join(' or ')}`)
  }
  if (expect.within_ms !== undefined && ms > expect.within_ms) reasons.push(`it took ${Math.round(ms)} ms`)
  const text = textOf(result)
  for (const part of all(expect.result_has_text)) if (!text.includes(part)) reasons.push(`no ${part} in the result`)
  for (const part of all(expect.result_lacks_text)) if (text.includes(part)) reasons.push(`${part} is in the result`)
  return reasons
}

/** A result with its bytes decoded. */
export function textOf(result: Answer['result']): string {
  const bytes = [result?.dataBase64, result?.chunk].map((part) => Buffer.from(String(part ?? ''), 'base64'))
  return `${JSON.stringify(result ?? null)}${Buffer.concat(bytes).toString('latin1')}`
}

/** `before`: who ran the command lines that nobody may run afterwards, before we came. */
export function judgeHost(checks: readonly HostCheck[], before: ReadonlySet<number>): Reasons {
  return checks.flatMap((check) => [...judgePath(check), ...judgeProcess(check, before)])
}

function judgePath({ path, exists, equals, lacks, link }: HostCheck): Reasons {
  if (path === undefined) return []
  const reasons: Reasons = []
  const is = lstatSync(path, { throwIfNoEntry: false })
  if (exists !== undefined && (is !== undefined) !== exists) reasons.push(`${path} ${is ? 'exists' : 'does not exist'}`)
  if (link !== undefined && (!is?.isSymbolicLink() || readlinkSync(path) !== link)) {
    reasons.push(`${path} is no longer a link to ${link}`)
  }
  const content = equals === undefined && lacks === undefined ? undefined : readPlainFile(path)
  if (equals !== undefined && content !== equals) reasons.push(`${path} holds ${JSON.stringify(content)}`)
  if (lacks !== undefined && content?.includes(lacks)) reasons.push(`${path} holds ${lacks}`)
  return reasons
}

function judgeProcess({ pid, alive, no_process }: HostCheck, before: ReadonlySet<number>): Reasons {
  const reasons: Reasons = []
  if (pid !== undefined && isAlive(Number(pid)) !== alive) reasons.push(`process ${pid} is ${alive ? 'dead' : 'alive'}`)
  if (no_process !== undefined && processesRunning(no_process).some((each) => !before.has(each))) {
    reasons.push(`"${no_process}" still runs`)
  }
  return reasons
}

/** Undefined for what is not there. A FIFO that a probe has put there keeps nobody waiting. */
function readPlainFile(path: string): string | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, 'utf8') : '(not a file)'
  } finally {
    closeSync(fd)
  }
}
