import type { Environment, Process, ProcessEvent } from '@waldo/environment'
import type { PathUri } from '@waldo/protocol'
import { LeaveError } from '../leave-error.ts'
import { BROKEN_PIPE, OutputClosedError, StandardStream } from '../standard-stream.ts'
import { describeDenials } from './describe-denials.ts'
import { forwardInput } from './forward-input.ts'
import { ForwardedSignals } from './forwarded-signals.ts'
import { OwnTerminal } from './own-terminal.ts'
import type { SandboxOptions } from './requested-sandbox.ts'
import { TimeLimit } from './time-limit.ts'

/** Not everything it said has come: that is a failure of ours. */
const INCOMPLETE = 125
/** The least that executors keep. Who has seen less has seen everything. */
const NEVER_DROPPED_BYTES = 1024 * 1024

export interface RunRequest extends SandboxOptions {
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
  // In raw mode a line feed is nothing more, and the cursor may be anywhere.
  const tell = (text: string) => void process.stderr.write(terminal ? `\r\nwaldo: ${text}\r\n` : `waldo: ${text}\n`)
  using signals = new ForwardedSignals({ environment, leave, tell })
  const stopTelling = process.stderr.isTTY ? tellOfCuts(environment, tell) : () => {}
  try {
    const child = await Promise.race([start(environment, request, terminal, giveUp.signal), left.promise])
    signals.attach(child)
    terminal?.follow(child, (error) => tell(`the size was not passed on: ${(error as Error).message}`))
    const { timeoutMs: ms } = request
    using limit = ms === undefined ? undefined : new TimeLimit({ ms, environment, child, leave })
    if (hasInput(request.tty)) {
      const interrupted = () => signals.received('SIGINT')
      const failed = (error: Error) => tell(`the input was not passed on: ${error.message}`)
      void forwardInput(child, { environment, tty: request.tty, interrupted, failed })
    }
    const exitCode = await Promise.race([relay(child, request.json, tell), left.promise])
    return limit ? limit.exitCode(exitCode) : exitCode
  } catch (error) {
    if (!(error instanceof LeaveError)) throw error
    if (error.message !== '') tell(error.message)
    return error.exitCode
  } finally {
    stopTelling()
  }
}

async function start(
  environment: Environment,
  { argv, cwd, env, tty, sandbox, network }: RunRequest,
  terminal: OwnTerminal | undefined,
  signal: AbortSignal,
): Promise<Process> {
  const { capabilities } = await environment.info({ signal })
  const { TERM = 'xterm-256color' } = process.env
  const child = await environment.processes.start(argv, {
    cwd,
    env: tty ? { TERM, ...env } : env,
    tty: terminal && capabilities?.processStartSize ? terminal.size : tty,
    stdin: hasInput(tty),
    whenFull: tty ? 'drop' : 'wait',
    sandbox,
    network,
    signal,
  })
  if (terminal && !capabilities?.processStartSize && capabilities?.processResize) await child.resize(terminal.size)
  return child
}

/** What is typed while we do not have the terminal is for whoever reads it next. */
function hasInput(tty: boolean): boolean {
  return tty || process.stdin.isTTY !== true
}

/** Everything it says, and how it ended. */
async function relay(child: Process, json: boolean, tell: (text: string) => void): Promise<number> {
  const stdout = new StandardStream(process.stdout)
  const stderr = new StandardStream(process.stderr)
  let exitCode = 0
  let bytes = 0
  try {
    for await (const event of child.events()) {
      if (event.type === 'exited') {
        exitCode = event.exitCode
        if (!json) for (const line of describeDenials(event)) tell(line)
      }
      if (json) await stdout.write(`${JSON.stringify(lineOf(event))}\n`)
      else if (event.type === 'output') await (event.stream === 'stderr' ? stderr : stdout).write(event.data)
      if (event.type === 'output') bytes += event.data.length
    }
    await stdout.flush()
    await stderr.flush()
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error
    await child.terminate()
    return BROKEN_PIPE
  }
  const missing = bytes < NEVER_DROPPED_BYTES ? 0 : await missingBytes(child, bytes)
  if (missing === 0) return exitCode
  tell(`${missing} bytes of output are missing: it was read too slowly, and is more than the executor keeps`)
  // Whoever takes the rest for everything is worse off than with an error.
  return exitCode === 0 ? INCOMPLETE : exitCode
}

async function missingBytes(child: Process, received: number): Promise<number> {
  const { bytes } = await child.wait()
  return bytes.output === null ? 0 : bytes.output - received
}

function lineOf(event: ProcessEvent): object {
  return event.type === 'output' ? { ...event, data: Buffer.from(event.data).toString('base64') } : event
}

function tellOfCuts(environment: Environment, tell: (text: string) => void): () => void {
  let cut = false
  return environment.onStatus(({ state }) => {
    if (state === 'recovering') tell('the connection was lost; trying to get back (Ctrl-C twice leaves)')
    else if (state === 'ready' && cut) tell('connected again')
    cut = state === 'recovering'
  })
}
