import type { CallOptions, Environment } from '../environment.ts'
import {
  type EnvironmentSelection,
  type KnownEnvironments,
  type SelectedEnvironment,
  select,
  unknownId,
} from './environment-selection.ts'

export interface ReadyEnvironment extends SelectedEnvironment {
  readonly environment: Environment
}

export interface UnavailableEnvironment {
  readonly environmentId: string
  readonly error: unknown
}

/**
 * Whether calls can be expected to succeed without a connection being made first. While one is being recovered they
 * wait for it: were such an environment passed over, commands would run somewhere else for no reason anybody sees.
 */
function isUsable({ status }: Environment): boolean {
  return status.state === 'ready' || status.state === 'recovering'
}

/**
 * The part of a selection that a turn can work in. It is fixed for the turn: a connection that is lost meanwhile makes
 * calls fail, and never makes them go elsewhere.
 */
export class ReadyEnvironments {
  readonly ready: readonly ReadyEnvironment[]
  /** Those that could not be connected, or not before the signal gave up; the turn goes on without them. */
  readonly unavailable: readonly UnavailableEnvironment[]

  private constructor(ready: readonly ReadyEnvironment[], unavailable: readonly UnavailableEnvironment[]) {
    this.ready = ready
    this.unavailable = unavailable
  }

  /** Connects to all of them at once. How long that may take, for deferred ones above all, is for `signal` to say. */
  static async connect(
    selection: EnvironmentSelection,
    known: KnownEnvironments,
    options?: CallOptions,
  ): Promise<ReadyEnvironments> {
    const ready: ReadyEnvironment[] = []
    const unavailable: UnavailableEnvironment[] = []
    const attempts = selection.map(async (selected) => {
      const environment = known.get(selected.environmentId)
      if (!environment) throw unknownId(selected.environmentId)
      if (!isUsable(environment)) await environment.ready(options)
      return { ...selected, environment }
    })
    for (const [index, outcome] of (await Promise.allSettled(attempts)).entries()) {
      if (outcome.status === 'fulfilled') ready.push(outcome.value)
      else unavailable.push({ environmentId: selection[index]!.environmentId, error: outcome.reason })
    }
    return new ReadyEnvironments(ready, unavailable)
  }

  /** One environment and nothing else, with everything that it can do. `cwd` is a path of its, or a `file:` URI. */
  static async of(
    environment: Environment,
    { cwd, signal }: CallOptions & { readonly cwd: string },
  ): Promise<ReadyEnvironments> {
    const known = { defaultId: environment.id, get: () => environment }
    const connected = await ReadyEnvironments.connect(select([{ environmentId: environment.id, cwd }], known), known, {
      signal,
    })
    const [failure] = connected.unavailable
    if (failure) throw failure.error
    return connected
  }

  /** The first that is ready: where calls go that do not say where. */
  get primary(): ReadyEnvironment | undefined {
    return this.ready[0]
  }

  /** The one that a call names, or the primary. Throws `SELECTION_INVALID` if it is not ready in this turn. */
  choose(environmentId?: string | null): ReadyEnvironment | undefined {
    if (environmentId == null) return this.primary
    const named = this.ready.find((ready) => ready.environmentId === environmentId)
    if (!named) throw unknownId(environmentId)
    return named
  }
}
