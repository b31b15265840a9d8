import type { OutputStream } from '@waldo/protocol'
import { closeDescriptor, createPipe } from '../libc.ts'
import type { OutputLog } from '../output/output-log.ts'
import { endOfLaunch, runCommand } from './command.ts'
import type { OpenFileLimit } from './open-file-limit.ts'
import { send } from './relatives.ts'
import { spawnError } from './spawn-error.ts'
import { type Ending, endingOf, type Spawned, type SpawnOptions } from './spawned.ts'
import { Stdin } from './stdin.ts'

/** Runs a command on pipes, in a session and process group of its own. Throws an `ExecError`. */
export function spawnOnPipes(request: SpawnOptions, log: OutputLog, limit: OpenFileLimit): Spawned {
  const ours: number[] = []
  const theirs: number[] = []
  const outputPipe = () => {
    const { readEnd, writeEnd } = createPipe()
    ours.push(readEnd)
    theirs.push(writeEnd)
    return writeEnd
  }
  const inputPipe = () => {
    const { readEnd, writeEnd } = createPipe()
    ours.push(writeEnd)
    theirs.push(readEnd)
    return readEnd
  }
  const exit = Promise.withResolvers<Ending>()
  try {
    const { child, launch } = runCommand(request, { terminal: false }, ({ cmd, options, descriptors }) => {
      const stdio = [request.pipeStdin ? inputPipe() : 'ignore', outputPipe(), outputPipe()] as const
      return limit.around(() =>
        Bun.spawn(cmd, {
          ...options,
          stdio: [...stdio, ...descriptors],
          detached: true,
          onExit: (_, code, signal) => exit.resolve(endingOf(code, signal)),
        }),
      )
    })
    const exited = endOfLaunch(exit.promise, launch)
    const connect = () => ({
      stdin: request.pipeStdin ? new PipeInput(ours.shift()!).stdin : undefined,
      stdout: new PipeOutput(ours.shift()!),
      stderr: new PipeOutput(ours.shift()!),
    })
    const { stdin, stdout, stderr } = orKill(child.pid, request, connect)
    return {
      pid: child.pid,
      isMonitor: launch?.isMonitor ?? false,
      stdin,
      reaped: exit.promise,
      exited,
      drained: Promise.all([stdout.drainInto(log, 'stdout'), stderr.drainInto(log, 'stderr')]).then(() => {}),
      abandonOutput() {
        stdout.abandon()
        stderr.abandon()
      },
    }
  } finally {
    // The child has its own copies by now. What is left of ours was opened for a child that did not start.
    for (const fd of [...theirs, ...ours]) closeDescriptor(fd)
  }
}

/** A child with whom we cannot talk (there are no descriptors left) must not run on: nobody would know of it. */
function orKill<T>(pid: number, { argv, cwd }: SpawnOptions, connect: () => T): T {
  try {
    return connect()
  } catch (cause) {
    send(-pid, 'SIGKILL')
    throw spawnError(argv[0], cwd, cause)
  }
}

/** Our end of a pipe that a child writes to. */
class PipeOutput {
  readonly #reader
  #next
  #abandoned = false

  constructor(fd: number) {
    this.#reader = Bun.file(fd).stream().getReader()
    // Reading makes the stream open a duplicate, which is its own to close. Ours has done its work.
    this.#next = this.#reader.read()
    closeDescriptor(fd)
  }

  async drainInto(log: OutputLog, stream: OutputStream): Promise<void> {
    for (;;) {
      const { done, value } = await this.#next
      if (done || this.#abandoned) return
      log.append(stream, value)
      const wait = log.pressure()
      if (wait) await wait
      if (this.#abandoned) return
      this.#next = this.#reader.read()
    }
  }

  abandon(): void {
    this.#abandoned = true
    // Settles the read that is under way. That it fails to close a pipe of the dead helps nobody to know.
    this.#reader.cancel().catch(() => {})
  }
}

/** Our end of a pipe that a child reads from. */
class PipeInput {
  readonly stdin: Stdin
  readonly #sink: Bun.FileSink
  #unfinished = 0

  constructor(fd: number) {
    this.#sink = Bun.file(fd).writer()
    this.stdin = new Stdin({
      send: (bytes) => this.#send(bytes),
      end: () => {
        Promise.resolve(this.#sink.end()).catch(() => {})
      },
    })
    // The writer has opened a duplicate.
    closeDescriptor(fd)
  }

  #send(bytes: Uint8Array): void {
    let flushed: number | Promise<number>
    try {
      const written: unknown = this.#sink.write(bytes)
      // It may fail as well as what follows, which is where we look.
      if (written instanceof Promise) written.catch(() => {})
      flushed = this.#sink.flush()
    } catch {
      // Nobody reads from the other end any more.
      this.stdin.close()
      return
    }
    if (!(flushed instanceof Promise)) {
      if (this.#unfinished === 0) this.stdin.drained()
      return
    }
    this.#unfinished++
    flushed.then(
      () => {
        if (--this.#unfinished === 0) this.stdin.drained()
      },
      () => this.stdin.close(),
    )
  }
}
