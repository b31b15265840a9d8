import { baseName } from './shell-wrapper.ts'

/** Run another command that is among their words. */
const CARRIERS = new Set(
  (
    'sudo doas env command builtin exec nohup nice ionice time timeout setsid stdbuf xargs find busybox noglob nocorrect ' +
    'chroot unshare su runuser'
  ).split(' '),
)
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh', 'mksh', 'ash', 'rbash'])

/**
 * Whether another command may begin at any of the words. Which of them are options and which their values is not asked:
 * words that could not be known are missing, so nobody could count them.
 */
export function carriesCommand(words: readonly string[]): boolean {
  return CARRIERS.has(baseName(words[0] ?? ''))
}

export function isShell(word: string): boolean {
  return SHELLS.has(baseName(word))
}

/** The scripts among the words of a command: of `bash -c '…'`, `eval …`, `trap '…' EXIT`, `env -S '…'`. */
export function scriptsIn(words: readonly string[]): string[] {
  const isCarrier = carriesCommand(words)
  const scripts = isCarrier && words.some((word) => baseName(word) === 'env') ? splitStrings(words) : []
  // The first that hands on a script has all that follows.
  const index = isCarrier ? words.findIndex((word) => handsOnScript(baseName(word))) : 0
  const rest = words.slice(index + 1)
  switch (index < 0 ? '' : baseName(words[index] ?? '')) {
    case 'eval':
      scripts.push(rest.join(' ').replace(/^-- /, ''))
      break
    case 'trap':
      scripts.push(...rest.filter((word) => !word.startsWith('-')).slice(0, 1))
      break
    default:
      if (handsOnScript(baseName(words[index] ?? ''))) scripts.push(...shellScript(rest))
  }
  return scripts.filter((script) => script.trim() !== '')
}

function handsOnScript(name: string): boolean {
  return SHELLS.has(name) || name === 'eval' || name === 'trap' || name === 'su' || name === 'runuser'
}

/** The first word after `-c` that is no option: `bash -c -e 'make'` is one, too. */
function shellScript(words: readonly string[]): string[] {
  const flag = words.findIndex((word) => /^-[A-Za-z]*c/.test(word) || word === '--command')
  const script = flag < 0 ? undefined : words.slice(flag + 1).find((word) => !/^[-+]/.test(word))
  return script === undefined ? [] : [script]
}

function splitStrings(words: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const [, attached] = /^(?:-[A-Za-z]*S|--split-string=)(.*)$/s.exec(word) ?? []
    if (attached !== undefined && attached !== '') return [attached]
    return attached === '' || word === '--split-string' ? words.slice(index + 1, index + 2) : []
  })
}
