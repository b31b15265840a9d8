import type { LinuxSandbox } from '@waldo/sandbox/linux'
import { prepareProfile } from './prepare-profile.ts'
import type { Finding } from './report.ts'
import { type Launch, superviseLaunch } from './supervise-launch.ts'

const CTRL_C = '\x03'
/** What the script ends with. A sandbox that was interrupted itself does not live to tell, whatever happened inside. */
const CAUGHT = 42
/** Only a terminal that is one's own can be opened by this name: without, shells have no job control. */
const SCRIPT = `
  trap 'exit ${CAUGHT}' INT
  : < /dev/tty && echo ready
  for second in 1 2 3 4; do sleep 1; done`
const MAX_CHARACTERS = 1000

/** Presses Ctrl-C on a terminal in a sandbox. It is to reach the command, and not whoever watches over it. */
export async function tryJobControl(sandbox: LinuxSandbox, signal: AbortSignal): Promise<Finding> {
  const start = performance.now()
  try {
    const prepared = await prepareProfile(sandbox, { network: 'restricted' })
    const env = { PATH: '/usr/bin:/bin' }
    const command = { program: '/bin/sh', args: ['-c', SCRIPT], arg0: undefined, cwd: '/', env }
    const { screen, code } = await runOnTerminal(prepared.launch(command, { terminal: true }), signal)
    if (code === CAUGHT) return { works: true, ms: Math.round(performance.now() - start) }
    const complaint = screen.replace(/ready|\^C/g, '').trim()
    return {
      works: false,
      reason: complaint || 'Ctrl-C ends the sandbox instead of reaching the command',
      remedy: 'install GNU coreutils, 8.31 or newer, whose env has --ignore-signal',
    }
  } catch (error) {
    signal.throwIfAborted()
    return { works: false, reason: (error as Error).message }
  }
}

/** What the terminal shows in the end, and how it ended. */
async function runOnTerminal(launch: Launch, signal: AbortSignal): Promise<{ screen: string; code: number | null }> {
  const decoder = new TextDecoder()
  const drained = Promise.withResolvers<void>()
  let screen = ''
  let pressed = false
  const data = (terminal: Bun.Terminal, bytes: Uint8Array) => {
    screen = (screen + decoder.decode(bytes, { stream: true })).slice(-MAX_CHARACTERS)
    if (pressed || !screen.includes('ready')) return
    pressed = true
    terminal.write(CTRL_C)
  }
  return await superviseLaunch(launch, signal, {
    spawn: (options, descriptors) =>
      Bun.spawn([...launch.argv], {
        ...options,
        // The first three are the terminal.
        stdio: ['ignore', 'ignore', 'ignore', ...descriptors],
        terminal: { cols: 80, rows: 24, data, exit: () => drained.resolve() },
      }),
    observe: async (child) => {
      // The last output may come after the end.
      await drained.promise
      child.terminal?.close()
      await child.exited
      return { screen, code: child.exitCode }
    },
  })
}
