import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NetworkNamespace } from './network-namespaces.ts'

/** Any account will do that is not root's. */
const ORDINARY = '61234'

export const bun = (script: string) => [process.execPath, '--no-env-file', '--config=/dev/null', '-e', script]
export const maker = bun(`import { serveNamespaces } from '${import.meta.dir}/namespace-maker.ts'; serveNamespaces()`)

export const sandbox = [
  ...['bwrap', '--unshare-user', '--unshare-pid', '--die-with-parent', '--cap-drop', 'ALL'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--', '/bin/sh', '-c'],
]

export async function run(argv: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = Bun.spawn([...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, stdout, stderr }
}

/** Runs a script of the shell in a sandbox in the namespace. */
export const inside = (namespace: NetworkNamespace, script: string) => run([...namespace.enter, ...sandbox, script])

/** When root runs the tests of a file, an ordinary user runs them too: the two are given different rights. */
export function ordinaryUserRuns(file: string): void {
  const skip = process.getuid?.() !== 0 && 'this is an ordinary user'
  test('all of this works for an ordinary user', { skip }, async () => {
    const become = ['setpriv', `--reuid=${ORDINARY}`, `--regid=${ORDINARY}`, '--clear-groups', '--']
    const { code, stdout, stderr } = await run([...become, process.execPath, 'test', '--timeout', '60000', file])
    assert.equal(code, 0, stdout + stderr)
  })
}
