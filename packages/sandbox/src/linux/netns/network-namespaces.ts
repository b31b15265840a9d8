import { closeSync } from 'node:fs'
import { findBubblewrap, findNsenter } from '../bubblewrap.ts'
import { type MakerOptions, MakerProcess, type NamespaceDescriptors } from './maker-process.ts'
import { LISTENER_PORT } from './namespace-maker.ts'

const MAX_NAMESPACES = 256

export interface NetworkNamespacesOptions {
  /** The command line of a program that runs `serveNamespaces`. It is started with the first namespace. */
  readonly command: readonly string[]
  /** What that program finds in its environment. */
  readonly env?: Readonly<Record<string, string>>
  readonly bwrap?: string
  readonly nsenter?: string
  readonly guard?: MakerOptions['guard'] | undefined
}

/** Makes network namespaces, one for each execution that may talk to nobody but its proxy. */
export class NetworkNamespaces {
  readonly #options: NetworkNamespacesOptions
  #maker: MakerProcess | undefined
  #count = 0
  #closed = false

  constructor(options: NetworkNamespacesOptions) {
    this.#options = options
  }

  async create(): Promise<NetworkNamespace> {
    if (this.#closed) throw new Error('no more network namespaces are made: the server is stopping')
    if (this.#count >= MAX_NAMESPACES) {
      throw new Error(
        `${MAX_NAMESPACES} commands with a managed network are running; start this one when one has ended`,
      )
    }
    this.#count++
    try {
      const nsenter = this.#options.nsenter ?? findNsenter()
      if (!nsenter) throw new Error('there is no `nsenter` on this machine; install util-linux')
      const descriptors = await this.#request()
      return new NetworkNamespace(nsenter, descriptors, () => this.#count--)
    } catch (error) {
      this.#count--
      throw error
    }
  }

  /** Ends the maker. Namespaces that are in use stay until they are released. */
  close(): void {
    this.#closed = true
    this.#maker?.kill()
    this.#maker = undefined
  }

  async #request(): Promise<NamespaceDescriptors> {
    const used = this.#maker
    const maker = this.#runningMaker()
    try {
      return await maker.request()
    } catch (error) {
      // One that has worked before and was killed since says nothing about the next.
      if (maker !== used || maker.alive || this.#closed) throw error
      return this.#runningMaker().request()
    }
  }

  #runningMaker(): MakerProcess {
    if (this.#maker?.alive) return this.#maker
    const bwrap = this.#options.bwrap ?? findBubblewrap()
    if (!bwrap) throw new Error('there is no `bwrap` on this machine; install bubblewrap')
    const { command, env = {}, guard } = this.#options
    this.#maker = new MakerProcess({ bwrap, command, env, guard })
    return this.#maker
  }
}

/**
 * A network with nothing in it but its own loopback interface, and one socket that listens there. It exists as long as
 * a process is in it, the socket is open, or it has not been released.
 */
export class NetworkNamespace {
  /** Of the listening socket, on 127.0.0.1 inside. */
  readonly port = LISTENER_PORT
  /** Goes before the command line of the one who is to live inside. */
  readonly enter: readonly string[]
  readonly #descriptors: NamespaceDescriptors
  readonly #onRelease: () => void
  #listenerTaken = false
  #released = false

  constructor(nsenter: string, descriptors: NamespaceDescriptors, onRelease: () => void) {
    const path = (fd: number) => `/proc/${process.pid}/fd/${fd}`
    this.enter = [
      nsenter,
      `--user=${path(descriptors.user)}`,
      `--net=${path(descriptors.net)}`,
      '--preserve-credentials',
      '--',
    ]
    this.#descriptors = descriptors
    this.#onRelease = onRelease
  }

  /** The descriptor of the listening socket, which is the caller's from now on: a server that listens on it closes it. */
  takeListener(): number {
    if (this.#listenerTaken || this.#released) throw new Error('the listener of this namespace is gone already')
    this.#listenerTaken = true
    return this.#descriptors.listener
  }

  /** When nobody is to enter any more. Who is inside stays, and so does a listener that was taken. */
  release(): void {
    if (this.#released) return
    this.#released = true
    const { listener, net, user } = this.#descriptors
    for (const fd of this.#listenerTaken ? [net, user] : [listener, net, user]) closeSync(fd)
    this.#onRelease()
  }
}
