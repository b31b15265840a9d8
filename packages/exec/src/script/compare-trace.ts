import { fromPosixPath, joinPath, toPosixPath } from '@waldo/protocol'
import { redirected } from './literal-redirect.ts'
import type { Redirect, Segment } from './segment.ts'

/** One program that a shell has started: exactly what it was given. */
export interface Started {
  readonly words: readonly string[]
  readonly environment: ReadonlyMap<string, string>
  /** What its descriptors were, as the system names them. */
  readonly descriptors: ReadonlyMap<number, string>
}

export interface Trace {
  readonly started: readonly Started[]
  /** Files that are in its directory afterwards. */
  readonly files: readonly string[]
  readonly directory: string
}

/** What a shell sets itself, and what the tracer gives it. */
const OWN_VARIABLES = new Set(['PATH', 'HOME', 'WALDO_TRACE', 'BASH_ENV', 'PWD', 'OLDPWD', 'SHLVL', 'LOGNAME', '_'])

/**
 * Fails unless everything that was started is one of the segments, each at most once, with its words, variables and
 * descriptors, and in their order (but for pipelines, whose commands run at the same time).
 */
export function assertOnlySegments(trace: Trace, segments: readonly Segment[], isOrdered: boolean): void {
  const left = [...segments]
  for (const started of trace.started) {
    const failures: string[] = []
    const index = left.findIndex((segment) => {
      const failure = difference(started, segment, trace.directory)
      if (failure !== undefined) failures.push(failure)
      return failure === undefined
    })
    const found = { started: started.words, among: left.map(({ words }) => words), because: failures }
    if (index < 0) throw new Error(`started something else: ${JSON.stringify(found)}`)
    left.splice(isOrdered ? 0 : index, isOrdered ? index + 1 : 1)
  }
  const targets = segments.flatMap(({ redirects }) => redirects.map(({ target }) => target.replace(/^\.\//, '')))
  const made = trace.files.find((file) => !targets.includes(file))
  if (made !== undefined) throw new Error(`made a file ${JSON.stringify(made)}`)
}

function difference({ words, environment, descriptors }: Started, segment: Segment, cwd: string): string | undefined {
  if (!isSame(words, segment.words)) return 'other words'
  // The last of several assignments counts.
  const variables = new Map(segment.assignments.map(({ name, value }) => [name, value]))
  for (const [name, value] of variables) if (environment.get(name) !== value) return `another ${name}`
  for (const name of environment.keys()) if (!OWN_VARIABLES.has(name) && !variables.has(name)) return `a ${name}`
  return strangeDescriptor(descriptors, segment.redirects, cwd)
}

/** Follows the redirects one by one, as a shell does. */
function strangeDescriptor(actual: ReadonlyMap<number, string>, redirects: readonly Redirect[], cwd: string) {
  /** Undefined: whatever it was before. */
  const expected = new Map<number, string | undefined>([0, 1, 2].map((number) => [number, undefined]))
  for (const redirect of redirects) {
    const { operator, target } = redirect
    for (const number of redirected(redirect)) {
      if (!operator.endsWith('&')) expected.set(number, String(toPosixPath(joinPath(fromPosixPath(cwd), target))))
      else if (target === '-') expected.delete(number)
      else expected.set(number, expected.get(Number(target)))
    }
  }
  for (const [number, path] of expected) {
    if (path !== undefined && actual.get(number) !== path) return `descriptor ${number} is ${actual.get(number)}`
  }
  // Its own script is somewhere from 10 on.
  for (const number of actual.keys()) if (number < 10 && !expected.has(number)) return `descriptor ${number} is open`
  return undefined
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index])
}
