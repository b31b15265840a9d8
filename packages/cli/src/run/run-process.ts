import type { Environment, Process, ProcessEvent } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { printError } from '../print.ts'
import { forwardInput } from './forward-input.ts'
import { ForwardedSignals } from './forwarded-signals.ts'
import { LeaveError } from './leave-error.ts'
import { OwnTerminal } from './own-terminal.ts'
import { OutputClosedError, StandardStream } from './standard-stream.ts'

const TIMED_OUT = 124
/** What a command gets that writes where nobody reads: 128 and SIGPIPE. */
const BROKEN_PIPE = 141
/** Between asking a command to end whose time is up, and ending it; and until we go without knowing. */
const GRACE_MS = 2000
const LAST_WAIT_MS = 5000

export interface RunRequest {
  readonly argv: readonly string[]
  readonly cwd: PathUri | undefined
  readonly env: Readonly<Record<string, string>>
  readonly tty: boolean
  readonly timeoutMs: number | undefined
  readonly json: boolean
}

/** Runs a command elsewhere as if it ran here, and returns its exit code. Throws an `ExecError` if that is not known. */
export async function runProcess(environment: Environment, request: RunRequest): Promise<number> {
  const left = Promise.withResolvers<never>()
  // Nobody may be waiting for it yet.
  left.promise.catch(() => {})
  const giveUp = new AbortController()
  const leave = (why: LeaveError) => {
    left.reject(why)
    giveUp.abort(why)
  }
  using terminal = request.tty ? new OwnTerminal() : undefined
  // In raw mode a line feed is nothing more.
  const tell = (text: string) => printError(`waldo: ${text}${terminal ? '\r' : ''}`)
  using signals = new ForwardedSignals({ environment, leave, tell })
  const stopTelling = process.stderr.isTTY ? tellOfCuts(environment, tell) : () => {}
  let timer: NodeJS.Timeout | undefined
  try {
    const child = await Promise.race([start(environment, request, terminal, giveUp.signal), left.promise])
    signals.attach(child)
    terminal?.follow(child, (error) => tell(`the size was not passed on: ${(error as Error).message}`))
    const timedOut = new Promise<void>((resolve) => {
      if (request.timeoutMs !== undefined) timer = setTimeout(resolve, request.timeoutMs)
    })
    void timedOut.then(() => endInTime(environment, child, leave))
    if (hasInput(request)) {
      const interrupted = () => signals.received('SIGINT')
      const failed = (error: Error) => tell(`the input was not passed on: ${error.message}`)
      void forwardInput(child, { environment, tty: request.tty, interrupted, failed })
    }
    const exitCode = await Promise.race([relay(child, request.json, tell), left.promise])
    return (await isSettled(timedOut)) ? TIMED_OUT : exitCode
  } catch (error) {
    if (!(error instanceof LeaveError)) throw error
    if (error.message !== '') tell(error.message)
    return error.exitCode
  } finally {
    clearTimeout(timer)
    stopTelling()
  }
}

async function start(
  environment: Environment,
  { argv, cwd, env, tty, json: _, ...request }: RunRequest,
  terminal: OwnTerminal | undefined,
  signal: AbortSignal,
): Promise<Process> {
  const { capabilities } = await environment.info({ signal })
  const { TERM = 'xterm-256color' } = process.env
  const child = await environment.processes.start(argv, {
    cwd,
    env: tty ? { TERM, ...env } : env,
    tty: terminal && capabilities?.processStartSize ? terminal.size : tty,
    stdin: hasInput({ tty, ...request }),
    signal,
  })
  if (terminal && !capabilities?.processStartSize && capabilities?.processResize) await child.resize(terminal.size)
  return child
}

/** What is typed while we do not have the terminal is for whoever reads it next. */
function hasInput({ tty }: { tty: boolean }): boolean {
  return tty || process.stdin.isTTY !== true
}

/** Everything it says, and how it ended. */
async function relay(child: Process, json: boolean, tell: (text: string) => void): Promise<number> {
  const stdout = new StandardStream(process.stdout)
  const stderr = new StandardStream(process.stderr)
  let exitCode = 0
  let dropped = 0
  try {
    for await (const event of child.events()) {
      if (event.type === 'exited') exitCode = event.exitCode
      if (json) await stdout.write(`${JSON.stringify(lineOf(event))}\n`)
      else if (event.type === 'output') await (event.stream === 'stderr' ? stderr : stdout).write(event.data)
      if (event.type === 'output') dropped += event.droppedBytes ?? 0
    }
    await stdout.flush()
    await stderr.flush()
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error
    await child.terminate()
    return BROKEN_PIPE
  }
  if (dropped > 0) tell(`${dropped} bytes of output are missing: they were more than the executor keeps`)
  return exitCode
}

function lineOf(event: ProcessEvent): object {
  return event.type === 'output' ? { ...event, data: Buffer.from(event.data).toString('base64') } : event
}

/** Its time is up. If we cannot make sure that it ends, we do not wait to learn it. */
async function endInTime(environment: Environment, child: Process, leave: (why: LeaveError) => void): Promise<void> {
  setTimeout(
    () => leave(new LeaveError(TIMED_OUT, 'the command did not end in time, and may still be running')),
    LAST_WAIT_MS,
  )
  try {
    const { capabilities } = await environment.info()
    await child.terminate(capabilities?.processTerminateGrace ? { graceMs: GRACE_MS } : {})
  } catch (error) {
    leave(new LeaveError(TIMED_OUT, `the command could not be ended in time: ${(error as Error).message}`))
  }
}

function tellOfCuts(environment: Environment, tell: (text: string) => void): () => void {
  let cut = false
  return environment.onStatus(({ state }) => {
    if (state === 'recovering') tell('the connection was lost; trying to get back (Ctrl-C twice leaves)')
    else if (state === 'ready' && cut) tell('connected again')
    cut = state === 'recovering'
  })
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  return await Promise.race([promise.then(() => true), Promise.resolve(false).then((no) => no)])
}
