import { closeSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ErrorCode, ProtocolError, type SandboxIntent } from '@waldo/protocol'
import type { FileRules } from '@waldo/sandbox'
import type { ThisHost } from '@waldo/sandbox/linux'
import type { HelperLaunch } from '../files/file-helper.ts'
import type { ExecutorSandbox } from './executor-sandbox.ts'
import { policyRefusal } from './policy-refusal.ts'
import type { OwnFiles } from './sandbox-means.ts'

/** Of the sources, seen from their root. */
const MAIN = 'packages/cli/src/main.ts'
/** It takes nothing from where it happens to be. */
const BUN_OPTIONS = ['--no-env-file', '--config=/dev/null']
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin' }

export interface PreparedHelper {
  /** The same for rules that mean the same, as long as what the sandbox is made of is not replaced. */
  readonly key: string
  readonly launch: () => HelperLaunch
}

/** Starts this program again in a sandbox, to work on files there. */
export class SandboxedHelper {
  readonly #sandbox: ExecutorSandbox
  readonly #own: OwnFiles
  readonly #args: readonly string[]

  /** `command` is what starts a helper outside of one. */
  constructor(sandbox: ExecutorSandbox, command: readonly string[]) {
    this.#sandbox = sandbox
    const { args, ...own } = resolveProgram(command)
    this.#own = own
    this.#args = args
  }

  /** Throws a `PolicyError` if the rules cannot be enforced. */
  prepare(intent: SandboxIntent, rules: FileRules, facts: ThisHost): PreparedHelper {
    const files = rules.readsEverything ? rules : this.#withPlatform(intent, facts)
    const { prepared, own, env } = this.#sandbox.prepareHelper({ rules, files, facts, own: this.#own })
    const { program, sources } = own
    const args = sources === undefined ? this.#args : [...BUN_OPTIONS, join(sources, MAIN), ...this.#args]
    const command = { program, args, arg0: undefined, cwd: '/', env: { ...ENVIRONMENT, ...env } }
    return {
      key: `${rules.key} ${prepared.identity}`,
      launch: () => {
        const launch = attempt(() => prepared.launch(command, { terminal: false }))
        return {
          argv: launch.argv,
          env: launch.env,
          start: (spawn) => launch.start(spawn),
          begin: (kill) => void launch.begin(kill),
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

/** Others may be at work on the same directories. */
function attempt<T>(launch: () => T): T {
  try {
    return launch()
  } catch (error) {
    throw policyRefusal(error, ErrorCode.invalidRequest)
  }
}

/** The compiled program is one file. From its sources it is Bun, and a directory. */
function resolveProgram(command: readonly string[]): OwnFiles & { readonly args: readonly string[] } {
  const [first, ...rest] = command
  const program = ownProgram(first!)
  if (isScript(program)) {
    // The script at the root of the sources, which starts Bun.
    const sources = dirname(program)
    return { program: realpathSync(join(sources, 'node_modules/.bin/bun')), sources, args: rest }
  }
  const main = rest.findIndex((argument) => argument.endsWith(`/${MAIN}`))
  if (main < 0) return { program, sources: undefined, args: rest }
  return { program, sources: rest[main]!.slice(0, -MAIN.length - 1), args: rest.slice(main + 1) }
}

function ownProgram(path: string): string {
  try {
    return realpathSync(path)
  } catch (cause) {
    const remedy = 'set WALDO_EXECUTABLE to where it is'
    const message = `files need a sandbox of their own, in which \`${path}\` is started, and that is not there; ${remedy}`
    throw new ProtocolError(ErrorCode.invalidRequest, message, { cause })
  }
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
