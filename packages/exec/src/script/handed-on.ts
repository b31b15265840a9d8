import { baseName } from './shell-wrapper.ts'

const named = (operands: number, names: string) => names.split(' ').map((name) => [name, operands] as const)

/** Run another command that is among their words, after as many operands of their own. */
const CARRIERS: ReadonlyMap<string, number> = new Map([
  ...named(
    0,
    'sudo doas pkexec su runuser env command builtin exec nohup nice ionice time setsid stdbuf xargs parallel',
  ),
  ...named(0, 'find busybox toybox noglob nocorrect unshare nsenter setpriv prlimit capsh bwrap firejail systemd-run'),
  ...named(0, 'systemd-inhibit strace ltrace gdb valgrind perf watch entr script unbuffer chronic ifne rlwrap numactl'),
  ...named(0, 'fakeroot fakechroot proot dbus-run-session xvfb-run torsocks proxychains proxychains4 tini dumb-init'),
  ...named(0, 'start-stop-daemon daemonize caffeinate arch linux32 linux64 npx bunx pnpx uvx cross-env dotenv'),
  ...named(0, 'genv gnice gnohup gstdbuf gxargs gfind ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1'),
  ...named(1, 'timeout gtimeout flock chroot gchroot taskset chrt setarch gosu su-exec setuidgid cgexec sg'),
])
const SHELLS = new Set(
  'bash sh zsh dash ksh mksh lksh oksh ash rbash rzsh rksh yash posh fish csh tcsh bash-static'.split(' '),
)
/** Take options as other programs do: the script may be in the same word as `-c`. */
const GIVE_TO_SHELL = new Set(['su', 'runuser', 'script', 'flock', 'sg', 'capsh', 'npx'])
/** Make one script of all their words. */
const JOIN_WORDS = new Set(['watch', 'parallel'])

/**
 * Whether another command may begin at any of the words. Which of them are options and which their values is not asked:
 * words that could not be known are missing, so nobody could count them.
 */
export function carriesCommand(words: readonly string[]): boolean {
  return CARRIERS.has(baseName(words[0] ?? ''))
}

/** How many words that are no options a program takes before the command that it runs; undefined if it runs none. */
export function operandsBeforeCommand(program: string): number | undefined {
  return CARRIERS.get(baseName(program))
}

export function isShell(word: string): boolean {
  return SHELLS.has(baseName(word))
}

/** The scripts among the words of a command: of `bash -c '…'`, `eval …`, `trap '…' EXIT`, `env -S '…'`, `watch '…'`. */
export function scriptsIn(words: readonly string[]): string[] {
  const isCarrier = carriesCommand(words)
  const scripts = isCarrier && words.some((word) => baseName(word) === 'env') ? splitStrings(words) : []
  // The first that hands on a script has all that follows.
  const index = isCarrier ? words.findIndex((word) => handsOnScript(baseName(word))) : 0
  const rest = words.slice(index + 1)
  const name = index < 0 ? '' : baseName(words[index] ?? '')
  if (name === 'eval') scripts.push(rest.join(' ').replace(/^-- /, ''))
  else if (name === 'trap') scripts.push(...rest.filter((word) => !word.startsWith('-')).slice(0, 1))
  else if (JOIN_WORDS.has(name)) scripts.push(...joinedScripts(rest), ...shellScripts(rest))
  else if (handsOnScript(name)) scripts.push(...shellScripts(rest), ...attachedScripts(name, rest))
  return scripts.filter((script) => script.trim() !== '')
}

function handsOnScript(name: string): boolean {
  return SHELLS.has(name) || GIVE_TO_SHELL.has(name) || JOIN_WORDS.has(name) || name === 'eval' || name === 'trap'
}

/** The first word after each `-c` that is no option: `bash -c -e 'make'` is one, too. */
function shellScripts(words: readonly string[]): string[] {
  const scripts: string[] = []
  let isNext = false
  for (const word of words) {
    if (/^-[A-Za-z]*[cC]/.test(word) || word === '--command' || word === '--init-command') isNext = true
    else if (isNext && !/^[-+]/.test(word)) {
      scripts.push(word)
      isNext = false
    }
  }
  return scripts
}

/** `--command='make'`, and of programs that read options so, `-c'make'`. For a shell, `-ce` are two options. */
function attachedScripts(name: string, words: readonly string[]): string[] {
  const isLetter = GIVE_TO_SHELL.has(name)
  return words.flatMap((word) => {
    const [, long] = /^--(?:init-|session-)?command=(.*)$/s.exec(word) ?? []
    const [, short] = (isLetter && /^-[A-Za-z]*?c(.+)$/s.exec(word)) || []
    return long ?? short ?? []
  })
}

/** All words as one script, and those that can only be one. The number before them is the value of an option. */
function joinedScripts(words: readonly string[]): string[] {
  const start = words.findIndex((word) => !/^-|^[0-9.]+$/.test(word))
  if (start < 0) return []
  const script = words.slice(start)
  return [script.join(' '), ...(script.length > 1 ? script.filter((word) => /\s/.test(word)) : [])]
}

function splitStrings(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const [, attached] = /^(?:-[A-Za-z]*S|--split-string=)(.*)$/s.exec(word) ?? []
    if (attached !== undefined && attached !== '') return [attached]
    return attached === '' || word === '--split-string' ? words.slice(index + 1, index + 2) : []
  })
}
