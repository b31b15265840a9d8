import type { TerminalSize } from '@waldo/protocol'
import { LastOutput } from '../output/last-output.ts'
import type { LogStore } from '../output/log-store.ts'
import { OutputLog } from '../output/output-log.ts'
import { childEnvironment, type EnvironmentRequest } from './child-environment.ts'
import { ownsConnection } from './connection-owner.ts'
import { LocalProcess } from './local-process.ts'
import { OpenFileLimit } from './open-file-limit.ts'
import { spawnOnPipes } from './pipe-process.ts'
import { ProcessTree } from './process-tree.ts'
import { spawnOnTerminal } from './pty-process.ts'
import type { SpawnOptions } from './spawned.ts'
import { Watchdog } from './watchdog.ts'

export interface StartOptions extends Omit<SpawnOptions, 'env' | 'mark'> {
  readonly environment: EnvironmentRequest
  /** The size of its terminal; undefined: pipes. */
  readonly terminal: TerminalSize | undefined
  /** Whether it waits for its reader rather than have output dropped. */
  readonly waitsForReader: boolean
}

export interface Guard {
  /** Ends the child and everything that descends from it. */
  kill(): void
  /** To be called when it has ended. */
  release(): void
}

/** Starts processes on this machine, and ends them all when it is closed. */
export class ProcessHost {
  readonly #logs: LogStore
  readonly #alone: boolean
  readonly #processes = new Set<LocalProcess>()
  /** Made for the first process: many a server is started long before it is used. */
  #machinery: { limit: OpenFileLimit; watchdog: Watchdog; tree: ProcessTree } | undefined

  /** `alone`: every child of this process is one of ours. */
  constructor(logs: LogStore, { alone = true } = {}) {
    this.#logs = logs
    this.#alone = alone
  }

  /** Throws an `ExecError` if there is no process in the end. */
  start({ terminal, environment, waitsForReader, ...rest }: StartOptions, owner: object): LocalProcess {
    this.#machinery ??= createMachinery(this.#alone)
    const { limit, tree, watchdog } = this.#machinery
    const request = { ...rest, env: childEnvironment(environment, process.env), mark: watchdog.mark }
    const { confinement } = rest
    const confined = confinement && { confinement, lastOutput: new LastOutput() }
    const last = confined?.lastOutput
    const log = new OutputLog(this.#logs, terminal ? 'pty' : 'stdout', { waits: waitsForReader, last })
    try {
      const spawned = terminal
        ? spawnOnTerminal({ ...request, size: terminal }, log, limit)
        : spawnOnPipes(request, log, limit)
      const started = new LocalProcess(spawned, { log, tree, owner, confined })
      this.#processes.add(started)
      void started.closed.then(() => this.#processes.delete(started))
      return started
    } catch (error) {
      log.discard()
      confinement?.abandon()
      throw error
    }
  }

  /** Looks after a child that leads a group and was started by somebody else: it ends with us, and its own with it. */
  guard(pid: number): Guard {
    this.#machinery ??= createMachinery(this.#alone)
    const { tree } = this.#machinery
    tree.add(pid, this)
    return { kill: () => tree.killTree(pid), release: () => tree.remove(pid) }
  }

  /** Whether somebody in a sandbox is at the other end of a connection to us: also through a proxy, which is ours. */
  isFromSandbox(peerPort: number, ownPort: number): boolean {
    const confined = this.#machinery?.tree.confined() ?? []
    return confined.length > 0 && ownsConnection([process.pid, ...confined], peerPort, ownPort)
  }

  /** Kills what the owner's processes left running when they ended. */
  killOrphansOf(owner: object): void {
    this.#machinery?.tree.killOrphansOf(owner)
  }

  /** Ends everything: politely, then after the grace by force. */
  async close(graceMs: number): Promise<void> {
    const processes = [...this.#processes]
    for (const process of processes) process.terminate('shutdown', graceMs)
    await Promise.all(processes.filter((process) => process.running).map((process) => process.closed))
    await this.#machinery?.tree.killAll()
    this.#machinery?.tree.close()
    this.#machinery?.watchdog.close()
  }
}

function createMachinery(alone: boolean) {
  const watchdog = new Watchdog()
  return { limit: new OpenFileLimit(), watchdog, tree: new ProcessTree(watchdog, { alone }) }
}
