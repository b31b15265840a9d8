import { ENOSYS, EPERM, type Rule } from './rule.ts'

/** Looking into other processes. */
export const debuggingRules: readonly Rule[] = [
  { errno: EPERM, calls: ['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp', 'pidfd_getfd'] },
]

/**
 * Parts of the kernel that no build, test or tool needs and that were the way out of many a sandbox. Most want a
 * capability that nobody inside has; here they cannot even be asked.
 *
 * Permitted on purpose: `adjtimex` and `clock_adjtime` (reading the clock's state is harmless, setting it takes a
 * capability), `personality` (turns off address randomisation, for the caller only), `name_to_handle_at` (a handle is
 * good for nothing without `open_by_handle_at`), `mbind` and `set_mempolicy` (numeric libraries), `vmsplice`,
 * `statmount`, `listmount`, and whatever only narrows what the caller may do (`seccomp`, `landlock_*`).
 */
export const kernelSurfaceRules: readonly Rule[] = [
  {
    errno: EPERM,
    calls: [
      'bpf',
      'perf_event_open',
      'userfaultfd',
      'fanotify_init',
      'modify_ldt',
      'uselib',
      'lookup_dcookie',
      // Keyrings belong to the user, not to a namespace: those of the host are within reach.
      'keyctl',
      'add_key',
      'request_key',
      // A handle opens a file by its inode, past all mounts.
      'open_by_handle_at',
      // Pages of other processes.
      'move_pages',
      'migrate_pages',
      // The machine as a whole.
      'kexec_load',
      'kexec_file_load',
      'init_module',
      'finit_module',
      'delete_module',
      'acct',
      'reboot',
      'swapon',
      'swapoff',
      'syslog',
      'quotactl',
      'quotactl_fd',
      'settimeofday',
      'clock_settime',
      'vhangup',
      'iopl',
      'ioperm',
    ],
  },
  // Its operations pass no filter: sockets and files could be opened through it. Runtimes fall back to `epoll`.
  { errno: ENOSYS, calls: ['io_uring_setup', 'io_uring_enter', 'io_uring_register'] },
  // Memory that cannot be swapped out and keeps the machine from hibernating. Most kernels do not have it either.
  { errno: ENOSYS, calls: ['memfd_secret'] },
]

const CLONE_NEW_NAMESPACES = 0x7e02_0000
/** CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD and CLONE_SYSVSEM: everything but namespaces. */
const UNSHARE_WITHOUT_NAMESPACES = 0x0005_0f00

/** New namespaces give capabilities inside them, and with those most bugs of the kernel can be reached. */
export const namespaceRules: readonly Rule[] = [
  {
    errno: EPERM,
    calls: [
      'mount',
      'umount2',
      'pivot_root',
      'chroot',
      'fsopen',
      'fsconfig',
      'fsmount',
      'fspick',
      'move_mount',
      'open_tree',
      'open_tree_attr',
      'mount_setattr',
      'setns',
    ],
  },
  // CLONE_NEWTIME is not among them: here its bit is a part of the number of the signal that tells of the end.
  {
    errno: EPERM,
    calls: ['clone'],
    onlyIf: [{ argument: 0, is: 'withoutBits', bits: CLONE_NEW_NAMESPACES }],
  },
  {
    errno: EPERM,
    calls: ['unshare'],
    onlyIf: [{ argument: 0, is: 'withoutBits', bits: ~UNSHARE_WITHOUT_NAMESPACES >>> 0 }],
  },
  // Its flags are in memory, where a filter cannot see them. The C library then uses `clone`; EPERM would stop it.
  { errno: ENOSYS, calls: ['clone3'] },
]

const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const TIOCSETD = 0x5423

export const terminalRules: readonly Rule[] = [
  {
    errno: EPERM,
    calls: ['ioctl'],
    // Typing into a terminal that a shell outside may read from; and changing its line discipline, which loads
    // drivers of modems that hardly anybody has looked at for years.
    onlyIf: [{ argument: 1, is: 'noneOf', values: [TIOCSTI, TIOCLINUX, TIOCSETD] }],
  },
]

const S_ISUID = 0o4000

/**
 * The owner of a file is the same user outside: a program with this bit, left in a directory that both see, would run
 * as that user, unconfined, for whoever starts it on the host. A file that is created with the bit loses it with the
 * first byte written, so that only a later change matters. (The bit for the group is left alone: git and others set it
 * on directories.)
 */
export const setuidRules: readonly Rule[] = [
  {
    errno: EPERM,
    calls: ['chmod', 'fchmod'],
    onlyIf: [{ argument: 1, is: 'withoutBits', bits: S_ISUID }],
  },
  {
    errno: EPERM,
    calls: ['fchmodat', 'fchmodat2'],
    onlyIf: [{ argument: 2, is: 'withoutBits', bits: S_ISUID }],
  },
]
