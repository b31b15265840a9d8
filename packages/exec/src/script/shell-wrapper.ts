/** Shells that are told apart because they read the same text differently. */
export type ShellKind = 'bash' | 'zsh' | 'sh'

/** `bash -lc 'make'`: a shell that is given its script as a word. */
export interface ShellWrapper {
  readonly kind: ShellKind
  readonly flag: '-c' | '-lc'
  readonly script: string
}

/** Everything but exactly these three words is a command like any other: further ones would be `$0`, `$1`, …. */
export function shellWrapper(argv: readonly string[]): ShellWrapper | undefined {
  const [program, flag, script] = argv
  if (argv.length !== 3 || program === undefined || script === undefined) return undefined
  if (flag !== '-c' && flag !== '-lc') return undefined
  const kind = fileStem(program)
  return kind === 'bash' || kind === 'zsh' || kind === 'sh' ? { kind, flag, script } : undefined
}

/** The script of `pwsh -NoProfile -Command '…'`, if there is nothing else. */
export function powershellScript(argv: readonly string[]): string | undefined {
  const [program, ...words] = argv
  const stem = program === undefined ? '' : fileStem(program).toLowerCase()
  if (stem !== 'pwsh' && stem !== 'powershell') return undefined
  const flags = words.slice(0, -1).map((word) => word.toLowerCase())
  const last = flags.pop()
  if (last !== '-command' && last !== '-c') return undefined
  return flags.every((flag) => flag === '-noprofile' || flag === '-nologo') ? words.at(-1) : undefined
}

/** The last name of a path: what a program is called. */
export function baseName(program: string): string {
  return program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1)
}

function fileStem(program: string): string {
  const name = baseName(program)
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}
