import { encodeNotification } from '@waldo/rpc'
import { ConnectionFiles, type FileServices } from './files/connection-files.ts'
import { Watches } from './files/watches.ts'
import { type HttpOptions, HttpRequests } from './http/http-requests.ts'
import type { LargeAnswers } from './large-answers.ts'
import type { Link } from './link.ts'
import { Room } from './room.ts'
import type { Session } from './session.ts'
import type { TextParts } from './wire.ts'

/** What the files and the HTTP requests of all connections share. */
export interface Services {
  readonly files: FileServices
  /** Loaded when it is needed. */
  readonly http: () => Pick<HttpOptions, 'client' | 'local'>
}

export interface ConnectionServicesOptions {
  readonly session: Session
  readonly link: Link
  readonly answers: LargeAnswers
  readonly send: (text: string | TextParts) => void
  /** Aborted when the connection is gone. */
  readonly signal: AbortSignal
  /** Made when the first call needs them. */
  readonly services: () => Services
}

/** What one connection has beside the processes of its session. Each comes to be at its first call. */
export class ConnectionServices {
  readonly #options: ConnectionServicesOptions
  readonly #room: Room
  #files: ConnectionFiles | undefined
  #watches: Watches | undefined
  #http: HttpRequests | undefined

  constructor(options: ConnectionServicesOptions) {
    this.#options = options
    this.#room = new Room(options.link)
  }

  get files(): ConnectionFiles {
    const { services, signal, answers, send } = this.#options
    this.#files ??= new ConnectionFiles(services().files, { signal, answers }, (watchId) =>
      send(encodeNotification('fs/missingChanged', { watchId })),
    )
    return this.#files
  }

  get watches(): Watches {
    const { services, session, link, send } = this.#options
    if (this.#watches) return this.#watches
    const { watch, mounts, sandboxed } = services().files
    const { TreeWatch } = watch()
    this.#watches = new Watches({
      open: (path, options) => TreeWatch.open(path, options),
      mounts,
      sandboxed,
      watches: session.watches,
      send,
      hasRoom: () => link.hasRoom,
    })
    return this.#watches
  }

  get http(): HttpRequests {
    const { services, answers, send } = this.#options
    this.#http ??= new HttpRequests({ ...services().http(), send, answers, room: () => this.#room.wait() })
    return this.#http
  }

  /** The client has read what it was sent. */
  writable(): void {
    this.#room.writable()
    this.#watches?.writable()
  }

  close(): void {
    this.#room.close()
    this.#files?.close()
    this.#watches?.close()
    this.#http?.close()
  }
}
