import type { Environment, EnvironmentSnapshot } from '@waldo/environment'
import { environmentsFrom } from '@waldo/environment/node'
import { joinPath, type PathUri, pathUri } from '@waldo/protocol'
import { connect, type EnvironmentManager, openEnvironments } from '@waldo/sdk'
import { ownRuntime } from './own-runtime.ts'
import { UsageError } from './usage-error.ts'

const URL_LIKE = /^[a-z][a-z0-9+.-]*:\/\//i
const ADDRESS_LIKE = /^[^\s/]+:\d+$/

/** One that somebody has named, or the default. */
export interface ChosenEnvironment {
  readonly environment: Environment
  /** What a path means there: an absolute one, one that starts at `~`, or one relative to where commands start. */
  path(text: string): Promise<PathUri>
}

/** What a person can choose from. Nothing connects before it is used. */
export class Environments implements AsyncDisposable {
  readonly snapshot: EnvironmentSnapshot
  readonly #manager: EnvironmentManager
  readonly #byUrl = new Map<string, Environment>()

  static async open(): Promise<Environments> {
    const snapshot = await (await environmentsFrom({ env: process.env })).snapshot()
    const provider = { snapshot: () => snapshot }
    return new Environments(snapshot, await openEnvironments({ provider, runtime: ownRuntime() }))
  }

  private constructor(snapshot: EnvironmentSnapshot, manager: EnvironmentManager) {
    this.snapshot = snapshot
    this.#manager = manager
  }

  /** The default first. */
  get ids(): string[] {
    return this.#manager.list().map(({ id }) => id)
  }

  /** Whatever is configured. */
  get thisMachine(): ChosenEnvironment {
    return chosen(this.#manager.internal, process.cwd())
  }

  /** By id or by URL; the default if nothing is said. */
  choose(name: string | undefined): ChosenEnvironment {
    if (name !== undefined && URL_LIKE.test(name)) return chosen(this.#connect(name), undefined)
    const id = name ?? this.#manager.defaultId
    const environment = id === undefined ? undefined : this.#manager.get(id)
    if (environment) {
      const cwd = this.snapshot.environments.find((configured) => configured.id === id)?.cwd
      return chosen(environment, id === 'local' ? process.cwd() : cwd)
    }
    if (id === undefined) throw new UsageError('no environment is the default', `say which: ${this.ids.join(', ')}`)
    const hint = ADDRESS_LIKE.test(id) ? `a URL works too: ws://${id}` : `waldo env add ${id} URL makes it known`
    throw new UsageError(`there is no environment \`${id}\`; there are: ${this.ids.join(', ')}`, hint)
  }

  /** Ends what we run there. Never fails: there is nothing left to do about it. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#manager.close(), ...[...this.#byUrl.values()].map((each) => each.close())])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #connect(url: string): Environment {
    const environment = this.#byUrl.get(url) ?? connect(url, { id: url })
    this.#byUrl.set(url, environment)
    return environment
  }
}

function chosen(environment: Environment, cwd: string | undefined): ChosenEnvironment {
  return {
    environment,
    async path(text) {
      const { cwd: executorCwd, userHomeDir } = await environment.info()
      const [home, below = ''] = /^~(?:\/+(.*))?$/s.exec(text) ?? []
      try {
        if (/^file:/i.test(text)) return pathUri(text)
        if (home !== undefined && userHomeDir !== null) return joinPath(userHomeDir, below)
        // An executor that does not say where it is may be anywhere.
        const there = executorCwd ?? pathUri('file:///')
        const base = cwd === undefined ? there : /^file:/i.test(cwd) ? pathUri(cwd) : joinPath(there, cwd)
        return joinPath(base, text)
      } catch (error) {
        throw new UsageError(`\`${text}\` is not a path: ${(error as Error).message}`)
      }
    },
  }
}
