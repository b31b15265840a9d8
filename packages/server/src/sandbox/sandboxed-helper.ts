import { closeSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SandboxIntent } from '@waldo/protocol'
import type { FileRules } from '@waldo/sandbox'
import type { ThisHost } from '@waldo/sandbox/linux'
import type { HelperLaunch } from '../files/file-helper.ts'
import { WRITABLE_PATHS } from '../files/writable-paths.ts'
import type { ExecutorSandbox } from './executor-sandbox.ts'

/** In /dev, which is made anew for each sandbox: there is nothing that it could be in the way of. */
const PROGRAM = '/dev/.waldo/program'
const SOURCES = '/dev/.waldo/sources'
/** Of the sources, seen from their root. */
const MAIN = 'packages/cli/src/main.ts'
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin' }

export interface PreparedHelper {
  /** The same for rules that mean the same, as long as what the sandbox is made of is not replaced. */
  readonly key: string
  readonly launch: () => HelperLaunch
}

/** Starts this program again in a sandbox, to work on files there. */
export class SandboxedHelper {
  readonly #sandbox: ExecutorSandbox
  readonly #argv: readonly [string, ...string[]]
  readonly #mounts: readonly string[]

  /** `command` is what starts a helper outside of one. */
  constructor(sandbox: ExecutorSandbox, command: readonly string[]) {
    this.#sandbox = sandbox
    const { program, sources, args } = resolveProgram(command)
    this.#argv = [PROGRAM, ...args]
    this.#mounts = ['--ro-bind', program, PROGRAM, ...(sources === undefined ? [] : ['--ro-bind', sources, SOURCES])]
  }

  /** Throws a `PolicyError` if the rules cannot be enforced. */
  prepare(intent: SandboxIntent, rules: FileRules, facts: ThisHost): PreparedHelper {
    const files = rules.readsEverything ? rules : this.#withPlatform(intent, facts)
    const prepared = this.#sandbox.linux.prepareHelper({ files, facts, mounts: this.#mounts })
    // Mounts let nothing else through. But if they ever do, the kernel has another rule that does not go by them.
    const writable = rules.rules.flatMap(({ access, exists, path }) => (access === 'write' && exists ? [path] : []))
    const env = { ...ENVIRONMENT, [WRITABLE_PATHS]: JSON.stringify([...writable, '/dev/null']) }
    return {
      key: `${rules.key} ${prepared.identity}`,
      launch: () => {
        const [program, ...args] = this.#argv
        const command = { program, args, arg0: undefined, cwd: '/', env }
        const launch = prepared.launch(command, { terminal: false })
        return {
          argv: launch.argv,
          env: launch.env,
          descriptors: launch.descriptors,
          started: () => launch.closeDescriptors(),
          ended: () => void launch.settle(),
        }
      },
    }
  }

  /** The helper is a program like others, and has to find its libraries. What it does with files it asks the rules. */
  #withPlatform(intent: SandboxIntent, facts: ThisHost): FileRules {
    const { permissions } = intent
    if (permissions.type !== 'managed' || permissions.file_system.type !== 'restricted') throw new Error('no rules')
    const minimal = { path: { type: 'special', value: { kind: 'minimal' } }, access: 'read' } as const
    const entries = [...permissions.file_system.entries, minimal]
    const file_system = { ...permissions.file_system, entries }
    return this.#sandbox.bind({ ...intent, permissions: { ...permissions, file_system } }, facts, undefined).files!
  }
}

/** The compiled program is one file. From its sources it is Bun, and a directory. */
function resolveProgram(command: readonly string[]): { program: string; sources: string | undefined; args: string[] } {
  const [first, ...rest] = command
  const program = realpathSync(first!)
  if (isScript(program)) {
    // The script at the root of the sources, which starts Bun.
    const root = dirname(program)
    return fromSources(realpathSync(join(root, 'node_modules/.bin/bun')), root, rest)
  }
  const main = rest.findIndex((argument) => argument.endsWith(`/${MAIN}`))
  if (main < 0) return { program, sources: undefined, args: rest }
  const root = rest[main]!.slice(0, -MAIN.length - 1)
  return fromSources(program, root, rest.slice(main + 1))
}

function fromSources(program: string, root: string, args: readonly string[]) {
  const main = join(SOURCES, MAIN)
  return { program, sources: root, args: ['--no-env-file', '--config=/dev/null', main, ...args] }
}

function isScript(program: string): boolean {
  const start = Buffer.alloc(2)
  const fd = openSync(program, 'r')
  try {
    readSync(fd, start, 0, 2, 0)
  } finally {
    closeSync(fd)
  }
  return start.toString() === '#!'
}
