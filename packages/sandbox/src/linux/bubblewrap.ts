import { accessSync, constants, existsSync, lstatSync, realpathSync } from 'node:fs'
import type { MountPlan } from './mount-plan.ts'

/** Where distributions put it. The PATH of whoever started us is nothing to trust the sandbox to. */
const PLACES = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap']
/** Everybody who is not known in a user namespace, root included. */
const NOBODY = 65534
/** What shared memory may take: it is taken from the machine's. */
const SHARED_MEMORY_BYTES = 1024 * 1024 * 1024
/** Of /proc: what root may read there without any capability, and no command has to. */
const KERNEL_FILES = ['/proc/keys', '/proc/timer_list', '/proc/sched_debug']

/** The program, if nobody but root and us could have put it there. */
export function findBubblewrap(places: readonly string[] = PLACES): string | undefined {
  return places.find(isTrusted)
}

/** What enters namespaces that others have made; the same goes for it. */
export function findNsenter(): string | undefined {
  return PLACES.map((place) => place.replace(/bwrap$/, 'nsenter')).find(isTrusted)
}

function isTrusted(path: string): boolean {
  try {
    const program = realpathSync(path)
    accessSync(program, constants.X_OK)
    const { uid, mode } = lstatSync(program)
    return [0, process.getuid?.(), NOBODY].includes(uid) && (mode & 0o022) === 0
  } catch {
    return false
  }
}

export interface Isolation {
  /** Undefined: the files are as they are for us. */
  readonly mounts: MountPlan | undefined
  /** Whether the command shares the network that bubblewrap is started in. */
  readonly sharesNetwork: boolean
  /** With a terminal the command stays in its session, so that the terminal is its own. */
  readonly terminal: boolean
  /** Hides a file of which only the emptiness is to be seen. */
  readonly deniedFile: string
  /** More mounts, in /dev, where nothing else is in their way. */
  readonly extras?: readonly string[]
}

/** All files are as they are, but for the machine's settings: with those root could lift every other restriction. */
const UNRESTRICTED = [
  ...['--dev-bind', '/', '/', '--proc', '/proc'],
  ...['--ro-bind', '/proc/sys', '/proc/sys', '--ro-bind-try', '/sys', '/sys'],
]

/** Everything but the command and what is handed over by descriptor, in the order in which it has to be done. */
export function isolationArguments({ mounts, sharesNetwork, terminal, deniedFile, extras = [] }: Isolation): string[] {
  return [
    ...(terminal ? [] : ['--new-session']),
    '--die-with-parent',
    // Also for root, who has no need of it: capabilities are then worth nothing outside.
    ...['user', 'pid', 'ipc', 'uts'].map((name) => `--unshare-${name}`),
    '--unshare-cgroup-try',
    ...(sharesNetwork ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL'],
    ...(mounts ? restricted(mounts, deniedFile, extras) : UNRESTRICTED),
  ]
}

let readableKernelFiles: readonly string[] | undefined
/** The kernel does not change while we run. */
function kernelFiles(): readonly string[] {
  readableKernelFiles ??= process.getuid?.() === 0 ? KERNEL_FILES.filter((path) => existsSync(path)) : []
  return readableKernelFiles
}

const BASES: Readonly<Record<MountPlan['base'], readonly string[]>> = {
  hidden: ['--tmpfs', '/'],
  read: ['--ro-bind', '/', '/'],
  // What is set in /sys is the whole machine's, and root may set it without any capability.
  write: ['--bind', '/', '/', '--ro-bind-try', '/sys', '/sys'],
}

function restricted({ base, args }: MountPlan, deniedFile: string, extras: readonly string[]): string[] {
  return [
    ...BASES[base],
    ...['--dev', '/dev'],
    ...['--perms', '1777', '--size', String(SHARED_MEMORY_BYTES), '--tmpfs', '/dev/shm'],
    ...extras,
    ...['--remount-ro', '/dev'],
    ...args,
    ...['--proc', '/proc'],
    // Run by root, these are the machine's own settings: one of them names a program that the kernel starts as root.
    ...['--ro-bind', '/proc/sys', '/proc/sys'],
    ...['--ro-bind-try', '/proc/sysrq-trigger', '/proc/sysrq-trigger'],
    ...kernelFiles().flatMap((path) => ['--ro-bind', deniedFile, path]),
    ...(base === 'hidden' ? ['--remount-ro', '/'] : []),
  ]
}
