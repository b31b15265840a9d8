import type { EnvPolicy, Permissions } from '@waldo/protocol'

/** What of an environment's own variables commands get; what is not said has its default. */
export type ShellEnvironmentPolicy = Partial<EnvPolicy>

/** Programs that talk to a model and not to a screen: no colours, no pagers, one encoding. */
const QUIET: Readonly<Record<string, string>> = {
  NO_COLOR: '1',
  TERM: 'dumb',
  COLORTERM: '',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  WALDO_AGENT: '1',
}
/**
 * Not on a Mac, where there is no such locale and every program complains of it; nor if a user has set any of it, which
 * the last one would overrule.
 */
const UTF8 = { LANG: 'C.UTF-8', LC_CTYPE: 'C.UTF-8', LC_ALL: 'C.UTF-8' }

export interface ChildSituation {
  readonly policy: ShellEnvironmentPolicy
  readonly platform: 'linux' | 'macos'
  readonly conversationId: string
  readonly permissions: Permissions
  readonly isBypass: boolean
}

export interface ChildEnvironment {
  readonly envPolicy: EnvPolicy
  readonly env: Readonly<Record<string, string>>
}

/**
 * What a command finds in its environment. The policy is carried out where the command runs, on what is there; laid over
 * it is what we say. That is told by name and not found out by comparing with what is set here, which says nothing about
 * there. What a user has set themselves wins.
 */
export function childEnvironment(situation: ChildSituation): ChildEnvironment {
  const { policy, platform, conversationId, permissions, isBypass } = situation
  const set = policy.set ?? {}
  const isOffline = !isBypass && permissions.type !== 'disabled' && permissions.network === 'restricted'
  const own: Record<string, string> = {
    ...QUIET,
    ...(platform === 'linux' && !Object.keys(set).some((name) => /^(LANG|LC_.*)$/.test(name)) ? UTF8 : {}),
    WALDO_CONVERSATION_ID: conversationId,
    ...(isOffline ? { WALDO_NETWORK_DISABLED: '1' } : {}),
  }
  for (const name of Object.keys(set)) delete own[name]
  return {
    envPolicy: {
      inherit: policy.inherit ?? 'all',
      // Tokens and keys are for whoever runs the executor, and not for what a model runs.
      ignoreDefaultExcludes: policy.ignoreDefaultExcludes ?? false,
      exclude: policy.exclude ?? [],
      set,
      includeOnly: policy.includeOnly ?? [],
    },
    env: own,
  }
}
