import type { EnvPolicy } from '@waldo/protocol'

const CORE = new Set('PATH SHELL TMPDIR TEMP TMP HOME LANG LC_ALL LC_CTYPE LOGNAME USER'.split(' '))

/** Credentials of whoever runs the executor. No child gets them, whatever a client asks for. */
const NEVER_PASSED = new Set([
  'CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN',
  'NODE_REPL_AUTH_TOKEN',
  'OPENAI_FEDERATION_RULE_ID',
  'OPENAI_IDENTITY_TOKEN_FILE',
  'OPENAI_WORKLOAD_IDENTITY_CONTEXT',
  'CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE',
])

export interface EnvironmentRequest {
  /** Exact, or laid over what the policy lets through. */
  readonly env: Readonly<Record<string, string>>
  readonly policy: EnvPolicy | undefined
  readonly toolCallId: string | undefined
}

/** The environment of a child. Without a policy nothing of our own is inherited. */
export function childEnvironment(
  { env, policy, toolCallId }: EnvironmentRequest,
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const result = new Map<string, string>()
  if (policy) {
    const inherits = inheritance(policy)
    for (const [name, value] of Object.entries(own)) {
      if (value !== undefined && inherits(name)) result.set(name, value)
    }
    for (const [name, value] of Object.entries(policy.set)) result.set(name, value)
    if (policy.includeOnly.length > 0) {
      const included = matcher(policy.includeOnly)
      for (const name of result.keys()) if (!included(name)) result.delete(name)
    }
  }
  for (const [name, value] of Object.entries(env)) result.set(name, value)
  if (toolCallId !== undefined) result.set('CODEX_TOOL_CALL_ID', toolCallId)
  for (const name of result.keys()) if (NEVER_PASSED.has(name.toUpperCase())) result.delete(name)
  // Sorted, so that the same request makes the same environment to the letter.
  const sorted = [...result].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.assign(Object.create(null), Object.fromEntries(sorted))
}

function inheritance(policy: EnvPolicy): (name: string) => boolean {
  if (policy.inherit === 'none') return () => false
  const excluded = matcher(policy.exclude)
  const secret = policy.ignoreDefaultExcludes ? () => false : matcher(['*KEY*', '*SECRET*', '*TOKEN*'])
  const core = policy.inherit === 'core'
  return (name) => (!core || CORE.has(name.toUpperCase())) && !secret(name) && !excluded(name)
}

/** Whole names, `*` and `?`, without regard to case. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map(compile)
  return (name) => expressions.some((expression) => expression(name.toUpperCase()))
}

/**
 * Not a regular expression: with patterns from the wire, `*a*a*a*…` would take it exponential time. This walk goes back
 * only to the last star.
 */
function compile(pattern: string): (text: string) => boolean {
  const glob = pattern.toUpperCase()
  return (text) => {
    let at = 0
    let star = -1
    let resume = 0
    let i = 0
    while (i < text.length) {
      if (glob[at] === '*') {
        star = at++
        resume = i
      } else if (at < glob.length && (glob[at] === '?' || glob[at] === text[i])) {
        at++
        i++
      } else if (star >= 0) {
        at = star + 1
        i = ++resume
      } else return false
    }
    while (glob[at] === '*') at++
    return at === glob.length
  }
}
