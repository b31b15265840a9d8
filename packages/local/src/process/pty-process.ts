import type { OutputLog } from '../output/output-log.ts'
import { endOfLaunch, runCommand } from './command.ts'
import type { OpenFileLimit } from './open-file-limit.ts'
import { type Ending, endingOf, type Spawned, type TerminalOptions } from './spawned.ts'
import { Stdin } from './stdin.ts'

/** Runs a command on a terminal of its own, as the leader of a session. Throws an `ExecError`. */
export function spawnOnTerminal(request: TerminalOptions, log: OutputLog, limit: OpenFileLimit): Spawned {
  const exit = Promise.withResolvers<Ending>()
  const drained = Promise.withResolvers<void>()
  const stdin = new Stdin({
    send: (bytes) => {
      child.terminal?.write(bytes)
    },
    // A terminal has no end; its reader is told by the byte 0x04.
    end: () => {},
  })
  const { child, launch } = runCommand(request, { terminal: true }, ({ cmd, options, descriptors }) =>
    limit.around(() =>
      Bun.spawn(cmd, {
        ...options,
        // The first three are the terminal.
        ...(descriptors.length > 0 && { stdio: ['ignore', 'ignore', 'ignore', ...descriptors] as const }),
        onExit: (_, code, signal) => exit.resolve(endingOf(code, signal)),
        terminal: {
          ...request.size,
          // It comes whether we want more or not. Stopping the terminal, as Ctrl-S does, would be a way to make it wait;
          // but the kernel loses a line end that is being written at that moment.
          data: (_, data) => log.append('pty', data),
          drain: () => stdin.drained(),
          // Comes after all data, when nobody holds the terminal any more.
          exit: () => drained.resolve(),
        },
      }),
    ),
  )
  const { terminal } = child
  void drained.promise.then(() => terminal?.close())
  return {
    pid: child.pid,
    isMonitor: launch?.isMonitor ?? false,
    stdin,
    reaped: exit.promise,
    exited: endOfLaunch(exit.promise, launch),
    drained: drained.promise,
    abandonOutput: () => drained.resolve(),
    resize: ({ cols, rows }) => terminal?.resize(cols, rows),
  }
}
