import type { Environment } from '../environment.ts'
import { ExecError } from '../errors.ts'
import { DeferredEnvironment } from './deferred-environment.ts'
import type { EnvironmentFactory, RuntimePaths } from './environment-factory.ts'
import {
  checkId,
  checkSnapshot,
  duplicated,
  type EnvironmentProvider,
  LOCAL,
  MAX_ENVIRONMENTS,
  tooMany,
} from './environment-snapshot.ts'
import { checkRemoteTransport, type EnvironmentTransport, type RemoteTransport } from './environment-transport.ts'

export interface EnvironmentManagerOptions {
  readonly provider: EnvironmentProvider
  readonly factory: EnvironmentFactory
  readonly runtime?: RuntimePaths | undefined
}

export interface ListedEnvironment {
  readonly id: string
  readonly environment: Environment
  readonly isDefault: boolean
}

type Create = (id: string, transport: EnvironmentTransport, cwd?: string) => Environment

/** Owns the environments there are to choose from. Nothing connects before it is used. */
export class EnvironmentManager implements AsyncDisposable {
  /** This machine, for the harness's own work. It is there whatever is configured, and has no name. */
  readonly internal: Environment
  readonly defaultId: string | undefined
  readonly #environments: Map<string, Environment>
  readonly #create: Create
  /** Replaced environments that are still closing. */
  readonly #leaving = new Set<Promise<void>>()
  /** Why replaced ones could not be closed, for `close` to tell. The latest count if there are too many. */
  readonly #failures: unknown[] = []
  #closing: Promise<void> | undefined

  static async create({ provider, factory, runtime }: EnvironmentManagerOptions): Promise<EnvironmentManager> {
    const snapshot = await provider.snapshot()
    // All of it before the first is created: whoever gets an error has nothing to close.
    checkSnapshot(snapshot)
    const create: Create = (id, transport, cwd) => factory.create(id, transport, { cwd, runtime })
    const created: Environment[] = []
    try {
      const internal = create(LOCAL, { kind: 'local' })
      created.push(internal)
      const environments = new Map<string, Environment>()
      const local = snapshot.includeLocal ? [{ id: LOCAL, transport: { kind: 'local' }, cwd: undefined } as const] : []
      for (const { id, transport, cwd } of [...local, ...snapshot.environments]) {
        const environment = create(id, transport, cwd)
        created.push(environment)
        environments.set(id, environment)
      }
      return new EnvironmentManager(internal, environments, snapshot.default ?? undefined, create)
    } catch (error) {
      const failures = await closeAll(created)
      if (failures.length === 0) throw error
      throw new AggregateError([error, ...failures], 'an environment could not be created, nor the others closed')
    }
  }

  private constructor(
    internal: Environment,
    environments: Map<string, Environment>,
    defaultId: string | undefined,
    create: Create,
  ) {
    this.internal = internal
    this.defaultId = defaultId
    this.#environments = environments
    this.#create = create
  }

  /** The one that is used when nobody chooses. */
  get default(): Environment | undefined {
    return this.defaultId === undefined ? undefined : this.#environments.get(this.defaultId)
  }

  get(id: string): Environment | undefined {
    return this.#environments.get(id)
  }

  /** The default first, then this machine, then the others in their order. */
  list(): ListedEnvironment[] {
    const listed = Array.from(this.#environments, ([id, environment]) => ({
      id,
      environment,
      isDefault: id === this.defaultId,
    }))
    return listed.sort((a, b) => Number(b.isDefault) - Number(a.isDefault))
  }

  /** Adds a remote environment, or replaces the one of that id and closes it. The default keeps its id. */
  upsert(id: string, transport: RemoteTransport): Environment {
    this.#checkOpen()
    checkId(id)
    checkRemoteTransport(id, transport)
    return this.#add(id, () => this.#create(id, transport))
  }

  /** Adds an environment that is still being provisioned. Whoever does that reports how it went. */
  defer(id: string): DeferredEnvironment {
    this.#checkOpen()
    checkId(id)
    if (this.#environments.has(id)) throw duplicated(id)
    const deferred = new DeferredEnvironment(id, (transport) => this.#create(id, transport))
    this.#add(id, () => deferred.environment)
    return deferred
  }

  /** Closes all of them, replaced ones included. Rejects if one cannot be closed, after the others have been. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** What is replaced is closed only once there is something in its place. */
  #add(id: string, create: () => Environment): Environment {
    const replaced = this.#environments.get(id)
    if (!replaced && this.#environments.size >= MAX_ENVIRONMENTS) throw tooMany()
    if (replaced && this.#leaving.size >= MAX_ENVIRONMENTS) {
      throw new ExecError('REFUSED', `${this.#leaving.size} replaced environments are still closing; try again later`)
    }
    const environment = create()
    this.#environments.set(id, environment)
    if (replaced) this.#retire(replaced)
    return environment
  }

  #retire(environment: Environment): void {
    const leaving = closeAll([environment]).then((failures) => {
      this.#leaving.delete(leaving)
      this.#failures.push(...failures)
      if (this.#failures.length > MAX_ENVIRONMENTS) this.#failures.shift()
    })
    this.#leaving.add(leaving)
  }

  async #closeAll(): Promise<void> {
    const failures = await closeAll([this.internal, ...this.#environments.values()])
    await Promise.all(this.#leaving)
    failures.push(...this.#failures)
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} environments could not be closed`)
  }

  #checkOpen(): void {
    if (this.#closing) throw new ExecError('CLOSED', 'the environment manager was closed; create another one')
  }
}

async function closeAll(environments: readonly Environment[]): Promise<unknown[]> {
  const outcomes = await Promise.allSettled(environments.map(async (environment) => environment.close()))
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
}
