import { spawnSync } from 'node:child_process'
import { accessSync, constants, readlinkSync } from 'node:fs'
import type { NetworkPermission } from '@waldo/protocol'
import type { Policy } from '../policy/bind-policy.ts'
import type { FileRules } from '../policy/file-rules.ts'
import { PolicyError } from '../policy/policy-error.ts'
import { parentOf } from '../policy/posix-path.ts'
import { ThisHost } from '../this-host.ts'
import { findBubblewrap, isolationArguments } from './bubblewrap.ts'
import { type GlobMatch, scanGlobs } from './glob-scan.ts'
import { kernelDirectories } from './kernel-directories.ts'
import { createMasks } from './mask-files.ts'
import { MemoryFile } from './memory-file.ts'
import { type Masks, type MountPlan, planMounts } from './mount-plan.ts'
import { MountPoints } from './mount-points.ts'
import { EmptyNetwork } from './netns/empty-network.ts'
import { findOtherSpelling } from './other-spelling.ts'
import { type Hold, PreparedSandbox } from './prepared-sandbox.ts'
import { RunningRules } from './running-rules.ts'
import { seccompProgram } from './seccomp/seccomp-program.ts'
import type { SeccompArch } from './seccomp/syscalls.ts'
import { StartCheck } from './start-check.ts'

export interface LinuxSandboxOptions {
  /** Where it keeps what it mounts over others, and notes on what it has made elsewhere. */
  readonly stateDir: string
  /** The executor's own files: output of other processes, sockets, keys. */
  readonly hidden: () => readonly string[]
}

/** `proxy`: the command is started in a network of its own, in which somebody of ours listens. */
export type SandboxNetwork = NetworkPermission | 'proxy'

export interface PrepareOptions {
  readonly policy: Policy
  /** From which the policy was made. */
  readonly facts: ThisHost
  readonly network: SandboxNetwork
}

export interface HelperOptions {
  readonly files: FileRules
  readonly facts: ThisHost
  /** For bubblewrap: its own files, in /dev. */
  readonly mounts: readonly string[]
}

interface Plan {
  readonly files: FileRules | undefined
  readonly facts: ThisHost
  readonly network: SandboxNetwork
  readonly matches: readonly GlobMatch[]
  /** Set for a program of ours, which keeps to the rules where mounts cannot. */
  readonly helperMounts?: readonly string[]
}

/** What bubblewrap, the kernel's filters and a few mounts make of a policy. One for each executor. */
export class LinuxSandbox {
  readonly #options: LinuxSandboxOptions
  readonly #mountPoints: MountPoints
  readonly #filters = new Map<SandboxNetwork, MemoryFile>()
  readonly #running = new RunningRules()
  /** Those whose paths have no other spelling. */
  readonly #spelled = new WeakSet<MountPlan>()
  #masks: Masks | undefined
  #bubblewrap: string | undefined
  /** Null where there cannot be one. */
  #emptyNetwork: EmptyNetwork | null | undefined

  constructor(options: LinuxSandboxOptions) {
    this.#options = options
    this.#mountPoints = new MountPoints(options.stateDir)
  }

  /** The machine as it is for commands: what is there to be mounted on while one runs is not there. */
  lookAround(): ThisHost {
    return new ThisHost((path) => this.#mountPoints.isSynthetic(path))
  }

  /** Of bubblewrap. */
  get version(): string {
    const { stdout } = spawnSync(this.#program(), ['--version'], { encoding: 'utf8', timeout: 5000, env: {} })
    return stdout?.trim().replace(/^bubblewrap /, '') || 'unknown'
  }

  /** Removes what a crash has left on this machine. */
  sweep(): void {
    this.#mountPoints.sweep()
  }

  close(): void {
    this.#mountPoints.close()
    for (const filter of this.#filters.values()) filter.close()
    this.#filters.clear()
    this.#emptyNetwork?.close()
    this.#emptyNetwork = null
  }

  /** Throws a `PolicyError`, now or later, if this cannot be enforced. Later only if there is a tree to look through. */
  prepare({ policy: { files }, facts, network }: PrepareOptions): PreparedSandbox | Promise<PreparedSandbox> {
    const prepare = (matches: readonly GlobMatch[]) => this.#prepare({ files, facts, network, matches })
    return files && files.globs.length > 0 ? scanGlobs(files).then(prepare) : prepare([])
  }

  /** For a program of ours, which knows the rules and does not make or read what only mounts would keep others from. */
  prepareHelper({ files, facts, mounts }: HelperOptions): PreparedSandbox {
    return this.#prepare({ files, facts, network: 'restricted', matches: [], helperMounts: mounts })
  }

  #prepare({ files, facts, network, matches, helperMounts }: Plan): PreparedSandbox {
    this.#masks ??= createMasks(this.#options.stateDir)
    const { deniedFile } = this.#masks
    const mounts = files && this.#plan(files, facts, matches, helperMounts !== undefined)
    const emptyNetwork = network === 'restricted' ? this.#empty() : undefined
    const isolation = {
      mounts,
      sharesNetwork: network !== 'restricted' || emptyNetwork !== undefined,
      deniedFile,
      ...(helperMounts && { extras: helperMounts }),
    }
    return new PreparedSandbox({
      facts,
      files,
      mounts,
      bubblewrap: this.#program(),
      seccomp: this.#filter(network),
      network: emptyNetwork,
      isolation: {
        pipes: isolationArguments({ ...isolation, terminal: false }),
        terminal: isolationArguments({ ...isolation, terminal: true }),
      },
      hold: () => this.#hold(files, mounts),
    })
  }

  #hold(files: FileRules | undefined, mounts: MountPlan | undefined): Hold {
    if (files) this.#refuseLinksOfOthers(files)
    const tricky = files && mounts && this.#running.mayReplace(mounts.bound, files)
    const check = tricky ? new StartCheck(mounts, files) : undefined
    let release: (() => void) | undefined
    try {
      release = this.#mountPoints.hold(mounts?.mountPoints ?? [])
      // Not before: what is held was perhaps not there.
      if (files && mounts) this.#refuseOtherSpellings(mounts, files)
      return { check, release, ended: this.#running.add(files) }
    } catch (error) {
      release?.()
      check?.discard()
      throw error
    }
  }

  /** Once for each plan: what it is about stays where it is, or there is another plan. */
  #refuseOtherSpellings(mounts: MountPlan, { globs }: FileRules): void {
    if (this.#spelled.has(mounts)) return
    const found = findOtherSpelling([...mounts.carved, ...globs.map(({ directory }) => directory)])
    if (found) {
      throw new PolicyError(
        'unenforceable',
        `${found.path} is also found as ${found.other}, because its file system ignores upper and lower case: what is ` +
          'protected there could be reached by another spelling. Work in a directory of another file system',
      )
    }
    this.#spelled.add(mounts)
  }

  /** Where a link leads that a running command could have made is for that command to say, not for the profile. */
  #refuseLinksOfOthers(files: FileRules): void {
    for (const { links, origin } of files.rules) {
      const link = links.find((each) => this.#running.mayReplace([each], files))
      if (link === undefined) continue
      throw new PolicyError(
        'unenforceable',
        `${origin} is reached through the symbolic link ${link}, which another command that is running may change: ` +
          'name the path without the link, or wait until that has ended',
      )
    }
  }

  #program(): string {
    this.#bubblewrap ??= findBubblewrap()
    if (this.#bubblewrap !== undefined) return this.#bubblewrap
    throw new PolicyError('unenforceable', 'bubblewrap is not installed')
  }

  #plan(files: FileRules, facts: ThisHost, matches: readonly GlobMatch[], trusted: boolean): MountPlan {
    const hidden = this.#options.hidden().flatMap((path) => {
      const { exists, ...resolved } = facts.resolve(path)
      return exists ? [resolved] : []
    })
    return planMounts(files, {
      masks: this.#masks!,
      matches,
      hidden: [...hidden, ...kernelDirectories(facts)],
      targetOf: (link) => readlinkSync(link),
      look: (path) => facts.kindOf(path),
      couldBeMade: (path) => !trusted && isWritable(parentOf(path)),
    })
  }

  #empty(): EmptyNetwork | undefined {
    if (this.#emptyNetwork === undefined) this.#emptyNetwork = EmptyNetwork.make() ?? null
    return this.#emptyNetwork ?? undefined
  }

  #filter(network: SandboxNetwork): MemoryFile {
    let filter = this.#filters.get(network)
    if (!filter) {
      filter = new MemoryFile(seccompProgram({ arch: architecture(), network }))
      this.#filters.set(network, filter)
    }
    return filter
  }
}

function architecture(): SeccompArch {
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch
  throw new PolicyError('unenforceable', `there is no system call filter for ${process.arch} processors`)
}

/** By whoever runs as we do. */
function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    return true
  } catch {
    return false
  }
}
