import { carriesCommand, isShell } from './handed-on.ts'
import { baseName } from './shell-wrapper.ts'

/** Take each line that they read for a command, or for words of one. */
const READ_COMMANDS = new Set(['parallel', 'at', 'batch', 'crontab'])
/** Start a shell if they are given no command. Whether they are, only they can tell. */
const START_SHELL = new Set(['su', 'runuser', 'unshare', 'nsenter', 'chroot', 'script', 'setarch'])
/** Do so if they are told to. */
const MAY_START_SHELL = new Set(['sudo', 'doas'])
const VALUED = /^(?:[-+][A-Za-z]*[oO]|--rcfile|--init-file)$/

/** Whether what is piped into a command is run, as far as can be told: that of `… | sh`, but not of `… | sh x.sh`. */
export function runsItsInput(words: readonly string[]): boolean {
  const name = baseName(words[0] ?? '')
  if (READ_COMMANDS.has(name)) return true
  if (name === '.' || name === 'source') return isInput(words[1] ?? '')
  if (!carriesCommand(words)) return isShell(name) && readsScript(words, 1)
  const at = words.findIndex(isShell)
  const before = words.slice(0, at < 0 ? words.length : at)
  if (before.some((word) => READ_COMMANDS.has(baseName(word)) || START_SHELL.has(baseName(word)))) return true
  if (MAY_START_SHELL.has(name) && before.some((word) => /^-[A-Za-z]*[is]|^--(?:login|shell)$/.test(word))) return true
  // What it reads becomes words of the shell: its script, or the name of one.
  if (at >= 0 && before.some((word) => /^g?xargs$/.test(baseName(word)))) return true
  return at >= 0 && readsScript(words, at + 1)
}

/** Whether a shell with these options reads what it is given. With `-c`, its script may be what does. */
function readsScript(words: readonly string[], from: number): boolean {
  for (let index = from; index < words.length; index++) {
    const word = words[index]!
    if (/^-[A-Za-z]*[cs]|^--command/.test(word)) return true
    if (word === '-' || !/^[-+]/.test(word)) return isInput(word)
    if (VALUED.test(word)) index++
  }
  return true
}

function isInput(path: string): boolean {
  return path === '-' || /^\/+(?:dev|proc)\//.test(path)
}
