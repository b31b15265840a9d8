export type SeccompArch = 'x64' | 'arm64'

/**
 * The first number that no kernel had given away when the rules were written (the last is `file_setattr`, Linux 6.17).
 * From 424 on, all architectures count alike. Judge the calls between before you raise it.
 */
export const FIRST_UNKNOWN_SYSCALL = 470

/** The numbers of the calls that rules speak of, on x64 and on arm64. The newer one left out what is obsolete. */
const numbers = {
  accept: [43, 202],
  accept4: [288, 242],
  acct: [163, 89],
  add_key: [248, 217],
  bind: [49, 200],
  bpf: [321, 280],
  chmod: [90, undefined],
  chroot: [161, 51],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  connect: [42, 203],
  delete_module: [176, 106],
  fanotify_init: [300, 262],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  init_module: [175, 105],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173, undefined],
  iopl: [172, undefined],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  listen: [50, 201],
  lookup_dcookie: [212, 18],
  memfd_secret: [447, 447],
  migrate_pages: [256, 238],
  modify_ldt: [154, undefined],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  perf_event_open: [298, 241],
  pidfd_getfd: [438, 438],
  pivot_root: [155, 41],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  recvmmsg: [299, 243],
  request_key: [249, 218],
  sendmmsg: [307, 269],
  sendto: [44, 206],
  setns: [308, 268],
  settimeofday: [164, 170],
  socket: [41, 198],
  socketpair: [53, 199],
  swapoff: [168, 225],
  swapon: [167, 224],
  syslog: [103, 116],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134, undefined],
  userfaultfd: [323, 282],
  vhangup: [153, 58],
} as const satisfies Record<string, readonly [x64: number, arm64: number | undefined]>

export type SyscallName = keyof typeof numbers

export const syscallNames = Object.keys(numbers) as SyscallName[]

/** Undefined where the architecture has no such call. */
export function syscallNumber(name: SyscallName, arch: SeccompArch): number | undefined {
  const [x64, arm64] = numbers[name]
  return arch === 'x64' ? x64 : arm64
}
