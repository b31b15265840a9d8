import { type Launch, PATIENCE_MS, superviseLaunch } from './supervise-launch.ts'

/** Of what a command says. */
const MAX_CHARACTERS = 4096

export interface Finished {
  /** Whether the command ran to its end; if not, the complaint may be the sandbox's own. */
  readonly ran: boolean
  readonly stdout: string
  readonly complaint: string
}

/** Runs it on pipes to its end, or ends it. */
export async function runLaunch(launch: Launch, signal: AbortSignal): Promise<Finished> {
  return await superviseLaunch(launch, signal, {
    spawn: (options, descriptors) =>
      Bun.spawn([...launch.argv], { ...options, stdio: ['ignore', 'pipe', 'pipe', ...descriptors] }),
    observe: async (child) => {
      const [stdout, stderr] = await Promise.all([readShort(child.stdout), readShort(child.stderr), child.exited])
      const end = child.signalCode ? `it did not end within ${PATIENCE_MS / 1000} s` : `it ended with ${child.exitCode}`
      return { ran: launch.ran(false), stdout, complaint: stderr.trim() || end }
    },
  })
}

/** Everything is taken, so that nobody has to wait for us, and little of it kept. */
async function readShort(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of stream) {
    if (text.length < MAX_CHARACTERS) text += decoder.decode(bytes, { stream: true })
  }
  return text.slice(0, MAX_CHARACTERS)
}
