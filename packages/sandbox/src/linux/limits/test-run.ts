import type { LimitHit, Limits } from './limits.ts'
import { prepareLimits } from './prepare-limits.ts'
import { type LimitMeans, probeLimits } from './probe-limits.ts'

export interface LimitedRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number | null
  readonly signal: string | number | null
  readonly hit: LimitHit | undefined
}

const BUBBLEWRAP =
  'bwrap --new-session --die-with-parent --unshare-user --unshare-pid --unshare-ipc --unshare-net --cap-drop ALL ' +
  '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --'

/** Runs a command under limits, as the server does: the same calls in the same order. */
export async function runLimited(
  limits: Limits,
  argv: readonly string[],
  { sandboxed = false, means = probeLimits() }: { sandboxed?: boolean; means?: LimitMeans } = {},
): Promise<LimitedRun> {
  const prepared = prepareLimits(limits, means, { sandboxed })
  try {
    const command = sandboxed
      ? [Bun.which('bwrap')!, ...BUBBLEWRAP.split(' ').slice(1), ...prepared.wrapInside(argv)]
      : argv
    const child = Bun.spawn(prepared.wrap(command), {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    prepared.watch(child.pid, () => process.kill(-child.pid, 'SIGKILL'))
    const exited = child.exited.then(() => prepared.hit({ exitCode: child.exitCode, signal: child.signalCode }))
    const [stdout, stderr, hit] = await Promise.all([child.stdout.text(), child.stderr.text(), exited])
    return { stdout, stderr, exitCode: child.exitCode, signal: child.signalCode, hit }
  } finally {
    await prepared.release()
  }
}

// As a program it does the same for whoever started it, so that tests can see it with other rights than their own.
if (import.meta.main) {
  const [request = ''] = process.argv.slice(2)
  const { limits, argv, sandboxed } = JSON.parse(request) as { limits: Limits; argv: string[]; sandboxed: boolean }
  const answer = await runLimited(limits, argv, { sandboxed }).catch((error: Error) => ({ error: error.message }))
  process.stdout.write(JSON.stringify(answer))
}
