import { matchesWildcard } from './wildcard.ts'

/**
 * With these, whoever sets a variable runs code of their own in any program. A `*` never means them: they have to be
 * written out.
 */
const NEVER_BY_WILDCARD = [
  'PATH',
  'IFS',
  'ENV',
  'BASH_ENV',
  'SHELLOPTS',
  'BASHOPTS',
  'PS4',
  'PROMPT_COMMAND',
  'ZDOTDIR',
  'LD_*',
  'DYLD_*',
  'GCONV_PATH',
  'NODE_OPTIONS',
  'PYTHON*',
  'PERL5*',
  'RUBYOPT',
  'RUBYLIB',
  'JAVA_TOOL_OPTIONS',
  '*PAGER',
  '*EDITOR',
  'GIT_SSH*',
  'GIT_CONFIG*',
  'GIT_EXEC_PATH',
  'GIT_EXTERNAL_DIFF',
  '*ASKPASS',
]

const PATTERN = /^[A-Za-z_*][A-Za-z0-9_*]*$/

/** Undefined if it is one; what is wrong with it otherwise. */
export function envPatternProblem(pattern: string): string | undefined {
  if (pattern.length > 256 || !PATTERN.test(pattern))
    return 'must be the name of a variable, with `*` for any part of it'
  return undefined
}

export function permitsVariable(pattern: string, name: string): boolean {
  if (pattern === name) return true
  if (NEVER_BY_WILDCARD.some((each) => matchesWildcard(each, name))) return false
  return matchesWildcard(pattern, name)
}
