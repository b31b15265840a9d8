import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '../../usage-error.ts'
import { killProcess, processesNaming } from '../processes.ts'
import { PATH } from './attempts.ts'
import { Bystander } from './bystander.ts'
import { fileFacts } from './file-facts.ts'
import { Reception } from './reception.ts'

/**
 * A workspace to break out of, and what must stay as it is around it: a directory with a file, a process that minds its
 * own business, and sockets that nobody is to come to. One for each attempt, which shows by it what it has done.
 */
export class Scene implements AsyncDisposable {
  readonly #token = randomBytes(16).toString('hex')
  readonly #base: string
  readonly #stateDir: string
  readonly #closing = new AsyncDisposableStack()
  #bystander!: Bystander
  #reception!: Reception
  #before: ReadonlyMap<string, string> = new Map()

  private constructor(stateDir: string) {
    this.#stateDir = stateDir
    this.#base = makeDirectory(stateDir)
    this.#closing.defer(() => rmSync(this.#base, { recursive: true, force: true }))
  }

  static async open(stateDir: string): Promise<Scene> {
    const scene = new Scene(stateDir)
    try {
      scene.#makeFiles()
      scene.#bystander = scene.#closing.use(new Bystander(scene.#token))
      scene.#closing.defer(() => scene.#killSurvivors())
      scene.#reception = scene.#closing.use(await Reception.open(scene.#socket, `\0doctor-${scene.#token}`))
      scene.#before = scene.#look()
      return scene
    } catch (error) {
      await scene[Symbol.asyncDispose]()
      throw error
    }
  }

  get workspace(): string {
    return join(this.#base, 'workspace')
  }

  get denied(): string {
    return join(this.workspace, 'denied')
  }

  /** What a script of an attempt knows. */
  get env(): Record<string, string> {
    return {
      PATH,
      WORKSPACE: this.workspace,
      OUTSIDE: this.#outside,
      EXECUTOR: this.#stateDir,
      BYSTANDER: String(this.#bystander.pid),
      PORT: String(this.#reception.port),
      SOCKET: this.#socket,
      TOKEN: this.#token,
    }
  }

  /** What has happened on this machine since, and should not have. */
  async traces(): Promise<string[]> {
    const now = this.#look()
    const paths = new Set([...this.#before.keys(), ...now.keys()])
    return [
      ...[...paths].flatMap((path) => changeOf(path, this.#before.get(path), now.get(path)) ?? []),
      ...((await this.#bystander.isWell()) ? [] : ['another process was killed']),
      ...(this.#survivors().length > 0 ? ['a process is left running'] : []),
      ...this.#reception.visits.map((place) => `${place} was reached`),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closing.disposeAsync()
  }

  get #outside(): string {
    return join(this.#base, 'outside')
  }

  get #socket(): string {
    return join(this.#outside, 'socket')
  }

  #makeFiles(): void {
    for (const directory of [this.#outside, this.workspace, this.denied, join(this.workspace, '.git')]) {
      mkdirSync(directory)
    }
    writeFileSync(join(this.#outside, 'kept'), 'kept\n')
    writeFileSync(join(this.workspace, '.git/config'), '[core]\n')
    writeFileSync(join(this.denied, 'secret'), 'secret\n')
    symlinkSync(this.#outside, join(this.workspace, 'link'))
  }

  #survivors(): number[] {
    return processesNaming(`left-${this.#token}`)
  }

  #killSurvivors(): void {
    for (const pid of this.#survivors()) killProcess(pid)
  }

  /** Everything but what may be changed. */
  #look(): Map<string, string> {
    const isFree = (name: string) => name.startsWith('workspace/') && !name.startsWith('workspace/.')
    return fileFacts(this.#base, (name) => !isFree(name))
  }
}

function changeOf(path: string, before: string | undefined, after: string | undefined): string | undefined {
  if (before === after) return undefined
  if (before === undefined) return `${path} has appeared`
  return after === undefined ? `${path} is gone` : `${path} has changed`
}

/** Not in /tmp if that can be avoided: it is a place that profiles allow, and that machines treat in their own ways. */
function makeDirectory(stateDir: string): string {
  const reasons: string[] = []
  for (const parent of ['/var/tmp', dirname(stateDir), tmpdir()]) {
    try {
      return realpathSync(mkdtempSync(join(parent, `waldo-doctor-${process.pid}-`)))
    } catch (error) {
      reasons.push((error as Error).message)
    }
  }
  throw new UsageError(`there is no directory to try things in: ${reasons[0]}`, 'make /var/tmp writable')
}
