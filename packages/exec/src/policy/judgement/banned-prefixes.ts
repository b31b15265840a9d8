import { baseName } from '../../script/shell-wrapper.ts'

const SHELLS = ['bash', 'sh', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'fish', 'busybox']
/** They run another command that is among their words. */
const CARRIERS =
  'builtin chroot command doas env exec find flock ionice nice nohup nsenter parallel runuser setsid stdbuf strace su sudo time timeout unshare watch xargs'

/** Programs that run anything, and what they are told to do so with. Allowed as a prefix, they would allow everything. */
const INLINE_CODE: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(SHELLS.map((shell) => [shell, ['-c', '-lc']])),
  ...Object.fromEntries(['python', 'python3'].map((name) => [name, ['-', '-c']])),
  ...Object.fromEntries(['node', 'nodejs', 'perl', 'ruby', 'lua', 'julia'].map((name) => [name, ['-e']])),
  ...Object.fromEntries(['cmd', 'cmd.exe'].map((name) => [name, ['/c', '/k']])),
  ...Object.fromEntries(
    ['powershell', 'powershell.exe', 'pwsh', 'pwsh.exe'].map((name) => [
      name,
      ['-Command', '-EncodedCommand', '-File', '-c', '-e', '-ec', '-f'],
    ]),
  ),
  py: ['-3'],
  bun: ['-e', 'run'],
  deno: ['eval'],
  php: ['-r'],
  npm: ['run'],
  pnpm: ['run'],
  yarn: ['run'],
}
/** Of these, the bare name is a prefix like others. */
const ONLY_WITH_WORD: ReadonlySet<string> = new Set(['npm', 'pnpm', 'yarn'])
const ALONE: ReadonlySet<string> = new Set([
  ...CARRIERS.split(' '),
  ...Object.keys(INLINE_CODE).filter((name) => !ONLY_WITH_WORD.has(name)),
  ...['pythonw', 'pyw', 'pypy', 'pypy3', 'Rscript', 'osascript', 'eval', 'git', 'rm'],
])

/** Exactly these: what says more, as `npm run build`, is somebody's decision. */
export function isBannedPrefix(prefix: readonly string[]): boolean {
  const [program, word] = prefix
  if (program === undefined || prefix.length > 2) return false
  const name = baseName(program)
  if (word === undefined) return ALONE.has(name)
  return Object.hasOwn(INLINE_CODE, name) && INLINE_CODE[name]!.includes(word)
}
