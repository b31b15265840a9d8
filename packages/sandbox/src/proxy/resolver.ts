import dns from 'node:dns/promises'

/** All addresses of a name, best first. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** A lookup cannot be stopped: it goes on in the background until the system's resolver gives up. */
const MAX_LOOKUPS = 256

/** The host cannot be reached. What happened is for people, `timedOut` for programs. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'
  readonly timedOut: boolean
  constructor(message: string, { timedOut = false, ...options }: ErrorOptions & { timedOut?: boolean } = {}) {
    super(message, options)
    this.timedOut = timedOut
  }
}

/** Finds the addresses of names. */
export class Resolver {
  readonly #lookup: Lookup
  readonly #limitMs: number
  #underWay = 0

  constructor(lookup: Lookup | undefined, limitMs: number) {
    this.#lookup = lookup ?? systemLookup
    this.#limitMs = limitMs
  }

  async addresses(host: string, signal: AbortSignal): Promise<readonly string[]> {
    if (this.#underWay >= MAX_LOOKUPS) {
      throw new UnreachableError(`${host} was not looked up: ${MAX_LOOKUPS} names are being looked up already`)
    }
    const late = new UnreachableError(`no name server has found ${host} within ${this.#limitMs} ms`, { timedOut: true })
    const given = Promise.withResolvers<never>()
    const abort = () => given.reject(signal.reason)
    const timer = setTimeout(() => given.reject(late), this.#limitMs)
    signal.addEventListener('abort', abort, { once: true })
    try {
      if (signal.aborted) abort()
      const found = await Promise.race([this.#counted(host), given.promise])
      if (found.length === 0) throw new UnreachableError(`${host} has no address`)
      return found
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  async #counted(host: string): Promise<readonly string[]> {
    this.#underWay++
    try {
      return await this.#lookup(host)
    } catch (cause) {
      throw new UnreachableError(`${host} cannot be found (${(cause as { code?: string }).code ?? 'no address'})`, {
        cause,
      })
    } finally {
      this.#underWay--
    }
  }
}

async function systemLookup(host: string): Promise<string[]> {
  const found = await dns.lookup(host, { all: true, order: 'verbatim' })
  return found.map(({ address }) => address)
}
