import type { Environment } from '../environment.ts'
import { ExecError } from '../errors.ts'
import { AwaitedEnvironment } from './awaited-environment.ts'
import { checkRemoteTransport, type RemoteTransport } from './environment-transport.ts'

type Report = { readonly ready: string } | { readonly failed: string }

/**
 * An environment that somebody is still provisioning, in the hands of whoever does it. The first report counts. The
 * same report may come again; one that contradicts it is refused.
 */
export class DeferredEnvironment {
  /** The same before and after the report. Whoever uses it waits for the report. */
  readonly environment: Environment
  readonly #awaited: AwaitedEnvironment
  readonly #create: (transport: RemoteTransport) => Environment
  #report: Report | undefined

  constructor(id: string, create: (transport: RemoteTransport) => Environment) {
    this.#awaited = new AwaitedEnvironment(id)
    this.environment = this.#awaited
    this.#create = create
  }

  /** It is there. Connecting is left to those who use it. */
  resolve(transport: RemoteTransport): void {
    const { id } = this.environment
    const ready = JSON.stringify(transport)
    if (this.#report) {
      if ('failed' in this.#report) throw this.#refused(`provisioning already failed: ${this.#report.failed}`)
      if (this.#report.ready === ready) return
      throw this.#refused(
        'is already ready, but a later provisioning report names another place; use upsert to move it',
      )
    }
    checkRemoteTransport(id, transport)
    this.#awaited.arrive(() => {
      const environment = this.#create(transport)
      // Before anybody is told: a listener that throws must not make us forget the report.
      this.#report = { ready }
      return environment
    })
  }

  /** It will never be there. */
  fail(message: string): void {
    if (this.#report) {
      if ('ready' in this.#report) {
        throw this.#refused(`is already ready, but a later provisioning report failed: ${message}`)
      }
      if (this.#report.failed === message) return
      throw this.#refused(`provisioning already failed: ${this.#report.failed}`)
    }
    this.#report = { failed: message }
    this.#awaited.fail(new ExecError('CONNECT_FAILED', `environment unavailable: ${message}`))
  }

  #refused(what: string): ExecError {
    return new ExecError('REFUSED', `environment \`${this.environment.id}\` ${what}`)
  }
}
