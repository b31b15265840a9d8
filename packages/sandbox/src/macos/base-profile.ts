/** What every program needs, and what gives nothing away. Facts about macOS rather than about anybody's files. */

const SYSCTL_NAMES = [
  'hw.activecpu',
  'hw.busfrequency_compat',
  'hw.byteorder',
  'hw.cacheconfig',
  'hw.cachelinesize_compat',
  'hw.cpufamily',
  'hw.cpufrequency',
  'hw.cpufrequency_compat',
  'hw.cputype',
  'hw.l1dcachesize_compat',
  'hw.l1icachesize_compat',
  'hw.l2cachesize_compat',
  'hw.l3cachesize_compat',
  'hw.logicalcpu',
  'hw.logicalcpu_max',
  'hw.machine',
  'hw.memsize',
  'hw.model',
  'hw.ncpu',
  'hw.nperflevels',
  'hw.packages',
  'hw.pagesize',
  'hw.pagesize_compat',
  'hw.physicalcpu',
  'hw.physicalcpu_max',
  'hw.tbfrequency_compat',
  'hw.vectorunit',
  'kern.argmax',
  'kern.hostname',
  'kern.maxfilesperproc',
  'kern.maxproc',
  'kern.osproductversion',
  'kern.osrelease',
  'kern.ostype',
  'kern.osvariant_status',
  'kern.osversion',
  'kern.secure_kernel',
  'kern.usrstack64',
  'kern.version',
  'machdep.cpu.brand_string',
  'sysctl.proc_cputype',
  'vm.loadavg',
]
const SYSCTL_PREFIXES = ['hw.optional.arm.', 'hw.optional.armv8_', 'hw.perflevel', 'kern.proc.pgrp.', 'kern.proc.pid.']

export const PROCESS_CLAUSES: readonly string[] = [
  '(allow process-fork)',
  '(allow signal (target same-sandbox))',
  '(allow process-info* (target same-sandbox))',
  `(allow sysctl-read\n  ${[
    ...SYSCTL_NAMES.map((name) => `(sysctl-name "${name}")`),
    ...SYSCTL_PREFIXES.map((prefix) => `(sysctl-name-prefix "${prefix}")`),
  ].join('\n  ')})`,
  // Java asks for the processor with a call that looks like a write.
  '(allow sysctl-write (sysctl-name "kern.grade_cputype"))',
  '(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))',
  // Who a user is.
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
  '(allow mach-lookup (global-name "com.apple.PowerManagement.control"))',
  // Python's `multiprocessing`.
  '(allow ipc-posix-sem)',
]

/** After everything that is said of files, because a rule for the root covers them too. */
export const DEVICE_CLAUSES: readonly string[] = [
  '(allow file-read* file-test-existence (literal "/"))',
  '(allow file-read-metadata file-test-existence (literal "/etc") (literal "/tmp") (literal "/var") (literal "/dev"))',
  '(allow file-read* file-test-existence (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/autofs_nowait"))',
  '(allow file-read* file-test-existence file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))',
  '(allow file-read* file-test-existence file-write-data (subpath "/dev/fd"))',
  '(allow pseudo-tty)',
  '(allow file-read* file-write-data file-ioctl (literal "/dev/ptmx"))',
  '(allow file-read* file-write-data (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))',
  // The terminal that a command is started on was opened outside.
  '(allow file-ioctl (regex #"^/dev/ttys[0-9]+$"))',
]

/** Answers come from files, so only for whoever may read them all. */
export const PREFERENCE_CLAUSES: readonly string[] = [
  '(allow ipc-posix-shm-read* (ipc-posix-name-prefix "apple.cfprefs."))',
  '(allow mach-lookup (global-name "com.apple.cfprefsd.daemon") (global-name "com.apple.cfprefsd.agent") (local-name "com.apple.cfprefsd.agent"))',
  '(allow user-preference-read)',
]

/** Names, certificates and routes, for whoever may use the network. */
export const NETWORK_CLAUSES: readonly string[] = [
  '(allow network*)',
  '(allow system-socket)',
  `(allow mach-lookup\n  ${[
    'com.apple.bsd.dirhelper',
    'com.apple.dnssd.service',
    'com.apple.networkd',
    'com.apple.ocspd',
    'com.apple.SecurityServer',
    'com.apple.system.opendirectoryd.membership',
    'com.apple.SystemConfiguration.configd',
    'com.apple.SystemConfiguration.DNSConfiguration',
    'com.apple.trustd',
    'com.apple.trustd.agent',
  ]
    .map((name) => `(global-name "${name}")`)
    .join('\n  ')})`,
  '(allow sysctl-read (sysctl-name-prefix "net.routetable"))',
]

/** What a program has to read to run at all: a profile calls it `minimal`. Temporary directories are not part of it. */
export const MACOS_PLATFORM_DIRECTORIES: readonly string[] = [
  '/bin',
  '/sbin',
  '/usr',
  '/System',
  '/Library/Apple',
  '/Library/Developer/CommandLineTools',
  '/Library/Frameworks',
  '/opt/homebrew',
  '/private/etc',
  '/private/var/db/DarwinDirectory',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/db/xcode_select_link',
  '/private/var/select',
]
