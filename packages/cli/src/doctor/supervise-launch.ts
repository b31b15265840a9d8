import type { PreparedSandbox } from '@waldo/sandbox/linux'
import { childrenOf, killProcess } from './processes.ts'

export type Launch = ReturnType<PreparedSandbox['launch']>

/** What anything that is tried here may take, before it is killed. It takes milliseconds. */
export const PATIENCE_MS = 5000

/** What every launch is started with, as the leader of a group, so that a Ctrl-C at our terminal is for us alone. */
interface CommonOptions {
  readonly cwd: string
  readonly env: Record<string, string>
  readonly detached: true
}

/** With the child's descriptors from 3 on. */
type Spawn<C> = (options: CommonOptions, descriptors: readonly number[]) => C

interface Supervision<C extends Bun.Subprocess, T> {
  readonly spawn: Spawn<C>
  /** What is to be known of it. */
  readonly observe: (child: C) => Promise<T>
}

/** Sees it to its end, or ends it. Rejects when the signal is raised; nothing is left then, either. */
export async function superviseLaunch<C extends Bun.Subprocess, T>(
  launch: Launch,
  signal: AbortSignal,
  { spawn, observe }: Supervision<C, T>,
): Promise<T> {
  const child = start(launch, signal, spawn)
  const end = () => killSandbox(child)
  const tooLong = Promise.withResolvers<never>()
  const timers = [
    setTimeout(end, PATIENCE_MS),
    setTimeout(() => tooLong.reject(new Error('it cannot be ended')), 2 * PATIENCE_MS),
  ]
  signal.addEventListener('abort', end)
  try {
    const all = Promise.all([observe(child), child.exited, launch.begin(end)])
    const [observed] = await Promise.race([all, tooLong.promise])
    signal.throwIfAborted()
    return observed
  } finally {
    signal.removeEventListener('abort', end)
    for (const timer of timers) clearTimeout(timer)
    await launch.settle()
  }
}

function start<C>(launch: Launch, signal: AbortSignal, spawn: Spawn<C>): C {
  try {
    signal.throwIfAborted()
    const options = { cwd: launch.cwd, env: { ...launch.env }, detached: true } as const
    return launch.start((descriptors) => spawn(options, descriptors))
  } catch (error) {
    launch.abandon()
    throw error
  }
}

/**
 * The process that bubblewrap has inside is bound to the one outside only when everything is set up. Until then it
 * would survive that one, and run the command, or wait for ever. It leaves the group shortly before: so whoever is not
 * seen by name is still there.
 */
function killSandbox({ pid, exitCode, signalCode }: Bun.Subprocess): void {
  if (exitCode !== null || signalCode !== null) return
  const inside = childrenOf(pid)
  for (const each of [-pid, ...inside]) killProcess(each)
}
