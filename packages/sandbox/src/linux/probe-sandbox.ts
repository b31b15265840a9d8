import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import type { SandboxInfo } from '@waldo/protocol'
import { FileRules } from '../policy/file-rules.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { ThisHost } from '../this-host.ts'
import { landlockVersion } from './landlock.ts'
import type { LinuxSandbox } from './linux-sandbox.ts'

const PATIENCE_MS = 5000
const MAX_REASON = 300

/** Makes a sandbox as commands get one, and runs something in it: nothing else says whether there can be one here. */
export function probeSandbox(sandbox: LinuxSandbox): SandboxInfo {
  try {
    const complaint = tryOne(sandbox)
    if (complaint !== undefined) return unavailable(complaint)
  } catch (error) {
    return unavailable((error as Error).message)
  }
  const landlock = landlockVersion()
  return { available: true, mechanism: 'bubblewrap', version: sandbox.version, ...(landlock > 0 && { landlock }) }
}

/** What bubblewrap says if it does not work; undefined if it does. */
function tryOne(sandbox: LinuxSandbox): string | undefined {
  const facts = new ThisHost()
  const root = { ...facts.resolve('/'), access: 'read', origin: 'root', protects: [] } as const
  const files = new FileRules({ rules: [root], globs: [], globDepth: undefined })
  const prepared = sandbox.prepare({
    policy: { files, network: 'restricted', skipped: [] },
    facts,
    network: 'restricted',
  })
  if (prepared instanceof Promise) throw new PolicyError('unenforceable', 'there is no pattern to look for')
  const command = { program: '/bin/true', args: [], arg0: undefined, cwd: '/', env: {} }
  const launch = prepared.launch(command, { terminal: false })
  try {
    const [program, ...args] = launch.argv
    const { status, error, stderr } = launch.start((descriptors) =>
      spawnSync(program, args, {
        cwd: launch.cwd,
        env: {},
        stdio: ['ignore', 'ignore', 'pipe', ...descriptors],
        timeout: PATIENCE_MS,
        encoding: 'utf8',
      }),
    )
    if (error) return error.message
    return status === 0 && launch.ran(false) ? undefined : stderr.trim() || `bubblewrap ended with ${status}`
  } finally {
    launch.abandon()
  }
}

function unavailable(complaint: string): SandboxInfo {
  const reason = complaint.slice(0, MAX_REASON).replace(/[.\s]+$/, '')
  return { available: false, reason, remedy: remedyFor(reason) }
}

interface Remedy {
  readonly said: RegExp
  readonly applies?: () => boolean
  readonly remedy: string
}

/** The first that fits. */
const REMEDIES: readonly Remedy[] = [
  { said: /not installed/, remedy: 'apt-get install bubblewrap (or dnf, apk, pacman: the package has the same name)' },
  {
    said: /uid map|new namespace|RTM_NEWADDR|user namespace|clone|setting up/i,
    applies: () => setting('kernel/apparmor_restrict_unprivileged_userns') === '1',
    remedy:
      'AppArmor keeps programs from making user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0, ' +
      'or give bwrap a profile with `userns,`',
  },
  {
    said: /new namespace|user namespace|clone/i,
    applies: () => setting('kernel/unprivileged_userns_clone') === '0',
    remedy: 'sysctl kernel.unprivileged_userns_clone=1',
  },
  {
    said: /new namespace|user namespace|clone|space left/i,
    applies: () => setting('user/max_user_namespaces') === '0',
    remedy: 'sysctl user.max_user_namespaces=15000',
  },
  {
    said: /mount proc|\/proc/i,
    remedy:
      'a container keeps /proc covered: start it with --security-opt systempaths=unconfined (Docker, podman), or ' +
      'procMount: Unmasked (Kubernetes)',
  },
  {
    said: /new namespace|user namespace|clone|slave|pivot|uid map|RTM_NEWADDR|Operation not permitted|Permission denied/i,
    applies: isContainer,
    remedy:
      'a container keeps programs from making namespaces: start it with --security-opt seccomp=unconfined ' +
      '--security-opt apparmor=unconfined, or say `external` in the profile and let the container be the sandbox',
  },
  { said: /processors/, remedy: 'run the executor on x64 or arm64' },
]

function remedyFor(reason: string): string {
  const found = REMEDIES.find(({ said, applies }) => said.test(reason) && (applies?.() ?? true))
  return found?.remedy ?? 'run `bwrap --unshare-all --ro-bind / / --proc /proc --dev /dev true` to see it by itself'
}

function setting(name: string): string | undefined {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim()
  } catch {
    return undefined // This kernel has no such thing.
  }
}

function isContainer(): boolean {
  return existsSync('/.dockerenv') || existsSync('/run/.containerenv') || process.env.container !== undefined
}
