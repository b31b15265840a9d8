import { closeSync } from 'node:fs'
import { createChannel, receiveDescriptors } from './libc.ts'
import { MADE } from './namespace-maker.ts'

/** For the start of the maker too, which is most of it. */
const ANSWER_MS = 10_000
const MAX_COMPLAINT = 1000
const MAX_LINE = 1000

/** All three are the receiver's to close. */
export interface NamespaceDescriptors {
  /** A socket that listens inside. */
  readonly listener: number
  readonly net: number
  /** The user namespace that owns the network, which one has to enter first. */
  readonly user: number
}

export interface MakerOptions {
  readonly bwrap: string
  /** What runs `serveNamespaces`. */
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Whoever looks after our children, until it is told that this one has ended. */
  readonly guard?: ((pid: number) => { release(): void }) | undefined
}

type Maker = Bun.Subprocess<'pipe', 'pipe', 'pipe'>

/**
 * A process that makes network namespaces, and hands them over. It has a user namespace of its own, in which it may do
 * that whoever we are, and nothing else that we have: no network, no environment of ours. It ends with us.
 */
export class MakerProcess {
  readonly #child: Maker
  readonly #channel: number
  readonly #waiting: PromiseWithResolvers<NamespaceDescriptors>[] = []
  #complaint = ''
  #alive = true

  constructor({ bwrap, command, env, guard }: MakerOptions) {
    const [ours, theirs] = createChannel()
    this.#channel = ours
    let child: Maker | undefined
    let guarded: { release(): void } | undefined
    try {
      child = Bun.spawn([bwrap, ...ARGUMENTS, '--', ...command], {
        cwd: '/',
        env,
        stdio: ['pipe', 'pipe', 'pipe', theirs],
        // A Ctrl-C that is meant for the server must not reach it.
        detached: true,
      }) as Maker
      guarded = guard?.(child.pid)
    } catch (error) {
      child?.kill('SIGKILL')
      closeSync(ours)
      throw error
    } finally {
      closeSync(theirs)
    }
    child.unref()
    this.#child = child
    void this.#listen().finally(() => guarded?.release())
  }

  /** False from the moment that it has ended, or has been told to: somebody else has to be asked. */
  get alive(): boolean {
    return this.#alive
  }

  request(): Promise<NamespaceDescriptors> {
    const answer = Promise.withResolvers<NamespaceDescriptors>()
    this.#waiting.push(answer)
    const timer = setTimeout(() => {
      this.#complaint ||= `no answer within ${ANSWER_MS / 1000} s`
      this.kill()
    }, ANSWER_MS)
    try {
      this.#child.stdin.write('.')
      void Promise.resolve(this.#child.stdin.flush()).catch(() => {})
    } catch {
      // It has died. The end of its output will say so to all who wait.
    }
    return answer.promise.finally(() => clearTimeout(timer))
  }

  kill(): void {
    this.#alive = false
    this.#child.kill('SIGKILL')
  }

  async #listen(): Promise<void> {
    try {
      await Promise.all([this.#readAnswers(), this.#readComplaints()])
    } catch (error) {
      this.#complaint ||= (error as Error).message
    }
    this.kill()
    await this.#child.exited
    closeSync(this.#channel)
    const reason = this.#complaint.trim() || `exit code ${this.#child.exitCode ?? this.#child.signalCode}`
    for (const { reject } of this.#waiting.splice(0)) {
      reject(new Error(`the process that makes network namespaces has ended (${reason})`))
    }
  }

  async #readAnswers(): Promise<void> {
    const decoder = new TextDecoder()
    let pending = ''
    for await (const bytes of this.#child.stdout) {
      pending += decoder.decode(bytes, { stream: true })
      const lines = pending.split('\n')
      pending = lines.pop()!
      if (pending.length > MAX_LINE) throw new Error('it does not speak our language')
      for (const line of lines) this.#take(line)
    }
  }

  async #readComplaints(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const bytes of this.#child.stderr) {
      this.#complaint = (this.#complaint + decoder.decode(bytes, { stream: true })).slice(-MAX_COMPLAINT)
    }
  }

  /** Answers come in the order of the requests. */
  #take(line: string): void {
    const answer = this.#waiting.shift()
    if (line !== MADE) {
      answer?.reject(new Error(line.slice(0, MAX_LINE)))
      return
    }
    const received = receiveDescriptors(this.#channel, DESCRIPTORS)
    const [listener, net, user] = received
    if (answer && listener !== undefined && net !== undefined && user !== undefined) {
      answer.resolve({ listener, net, user })
      return
    }
    // The kernel leaves out what we have no room for.
    for (const fd of received) closeSync(fd)
    answer?.reject(new Error('cannot take over a network namespace: too many open files'))
  }
}

const DESCRIPTORS = 3

/** `--dev-bind` because a runtime wants its /dev/null; the maker can do no more with files than whoever starts it. */
const ARGUMENTS = [
  '--unshare-user',
  '--unshare-net',
  '--die-with-parent',
  ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--cap-add', 'CAP_NET_ADMIN'],
  ...['--dev-bind', '/', '/'],
]
