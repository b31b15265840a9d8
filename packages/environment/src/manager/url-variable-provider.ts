import { ExecError } from '../errors.ts'
import { type EnvironmentProvider, type EnvironmentSnapshot, LOCAL } from './environment-snapshot.ts'
import { isDisabled, transportFromUrl } from './environment-transport.ts'

/** The first that is set and not blank counts. */
const VARIABLES = ['WALDO_EXEC_SERVER_URL', 'CODEX_EXEC_SERVER_URL'] as const

/**
 * One variable says where to work: unset or blank is this machine, `none` is nowhere unless somebody asks for `local`
 * by name, and a URL is `remote`, with `local` beside it.
 */
export class UrlVariableProvider implements EnvironmentProvider {
  readonly #env: Readonly<Record<string, string | undefined>>

  constructor(env: Readonly<Record<string, string | undefined>>) {
    this.#env = env
  }

  snapshot(): EnvironmentSnapshot {
    const variable = VARIABLES.find((name) => (this.#env[name] ?? '').trim() !== '')
    if (!variable) return { environments: [], default: LOCAL, includeLocal: true }
    const setting = this.#env[variable]!
    if (isDisabled(setting)) return { environments: [], default: null, includeLocal: true }
    try {
      const remote = { id: 'remote', transport: transportFromUrl(setting) }
      return { environments: [remote], default: remote.id, includeLocal: true }
    } catch (cause) {
      if (!ExecError.is(cause)) throw cause
      throw new ExecError(cause.code, `${variable}: ${cause.message}`, { cause })
    }
  }
}
