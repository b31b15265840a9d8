import { type LinuxSandbox, type NetworkNamespace, NetworkNamespaces } from '@waldo/sandbox/linux'
import { ownCommand } from '../own-command.ts'
import { prepareProfile } from './prepare-profile.ts'
import type { Finding } from './report.ts'
import { runLaunch } from './run-launch.ts'

/** Makes a network with nothing in it but a place for a proxy, and runs a command there. */
export async function tryManagedNetwork(sandbox: LinuxSandbox, signal: AbortSignal): Promise<Finding> {
  const start = performance.now()
  const namespaces = new NetworkNamespaces({ command: [...ownCommand(), 'namespace-maker'] })
  try {
    signal.throwIfAborted()
    // Nobody interrupts this: a maker that is killed before its sandbox is complete can leave a part of it behind.
    const namespace = await namespaces.create()
    try {
      await runInside(namespace, sandbox, signal)
    } finally {
      namespace.release()
    }
    return { works: true, ms: Math.round(performance.now() - start) }
  } catch (error) {
    signal.throwIfAborted()
    return { works: false, reason: (error as Error).message }
  } finally {
    namespaces.close()
  }
}

async function runInside({ enter }: NetworkNamespace, sandbox: LinuxSandbox, signal: AbortSignal): Promise<void> {
  const prepared = await prepareProfile(sandbox, { network: 'proxy' })
  const command = { program: '/bin/true', args: [], arg0: undefined, cwd: '/', env: {} }
  const wrapping = {
    outside: (argv: readonly string[]) => [...enter, ...argv],
    inside: (argv: readonly string[]) => argv,
  }
  const { ran, complaint } = await runLaunch(prepared.launch(command, { terminal: false, wrapping }), signal)
  if (!ran) throw new Error(complaint)
}
