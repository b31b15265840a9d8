import { type Environment, ExecError, type Process } from '@waldo/environment'

const CTRL_C = 0x03
const CTRL_D = '\x04'
/** Read ahead of what has arrived, so that a Ctrl-C is seen while nothing arrives. */
const AHEAD_BYTES = 64 * 1024

interface InputOptions {
  readonly environment: Environment
  readonly tty: boolean
  /** A Ctrl-C was typed that cannot be sent. */
  readonly interrupted: () => void
  readonly failed: (error: Error) => void
}

/** Passes our standard input on until it ends, or nobody reads it. */
export async function forwardInput(child: Process, options: InputOptions): Promise<void> {
  const { environment, tty, interrupted, failed } = options
  let ahead = 0
  let last: number | undefined
  let stopped = false
  const send = async (bytes: Uint8Array) => {
    ahead += bytes.length
    await child.write(bytes)
    ahead -= bytes.length
  }
  const stop = (error: unknown) => {
    if (stopped) return
    stopped = true
    // That it has ended, or is lost, is told by its events.
    if (ExecError.is(error) && ['STDIN_CLOSED', 'PROCESS_LOST', 'SESSION_LOST', 'CLOSED'].includes(error.code)) return
    failed(error as Error)
    // Whoever waits for more would wait in vain. If that fails as well, it has been said already.
    if (!tty) child.closeStdin().catch(() => {})
  }
  try {
    for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
      if (tty && environment.status.state !== 'ready' && chunk.includes(CTRL_C)) {
        interrupted()
        continue
      }
      last = chunk.at(-1)
      const sent = send(chunk)
      if (tty && ahead < AHEAD_BYTES) sent.catch(stop)
      else await sent
      if (stopped) return
    }
    // A terminal has no end. On a line that is not empty, the first of two only sends the line.
    if (tty) await child.write(last === undefined || last === 0x0a ? CTRL_D : CTRL_D + CTRL_D)
    else await child.closeStdin()
  } catch (error) {
    stop(error)
  }
}
