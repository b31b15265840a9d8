/** They go on reading options, or put all their words together: whatever a prefix says, more can be run with it. */
export const NEVER_DECIDED: ReadonlySet<string> = new Set(
  'find gfind su runuser script sg capsh watch parallel eval trap cmd entr gdb expect'.split(' '),
)

/** Run code that they are given, by a file or in a word. So does `git`, by its settings; `rm` is as bad. */
export const INTERPRETERS: ReadonlySet<string> = new Set(
  (
    'python pythonw py pyw pypy node nodejs tsx ts-node perl ruby lua luajit julia php rscript osascript tclsh elixir ' +
    'groovy awk gawk mawk nawk powershell pwsh git rm'
  ).split(' '),
)

interface Runner {
  /** After these, a word names a script of the project. */
  readonly scripts: readonly string[]
  /** After these comes a command, behind as many words. */
  readonly commands: Readonly<Partial<Record<string, number>>>
  /** The bare name is a prefix like others. */
  readonly isFineAlone?: true
}

export const RUNNERS: ReadonlyMap<string, Runner> = new Map<string, Runner>(
  Object.entries({
    npm: { scripts: ['run', 'run-script'], commands: commands({ exec: 0, x: 0 }), isFineAlone: true },
    pnpm: { scripts: ['run'], commands: commands({ exec: 0, dlx: 0 }), isFineAlone: true },
    yarn: { scripts: ['run'], commands: commands({ exec: 0, dlx: 0 }), isFineAlone: true },
    bun: { scripts: ['run', 'exec', 'repl'], commands: commands({ x: 0 }) },
    deno: { scripts: ['run', 'eval', 'repl'], commands: commands({ x: 0 }) },
    uv: { scripts: [], commands: commands({ run: 0, tool: 1 }), isFineAlone: true },
    pipx: { scripts: [], commands: commands({ run: 0 }), isFineAlone: true },
    poetry: { scripts: [], commands: commands({ run: 0 }), isFineAlone: true },
    pipenv: { scripts: [], commands: commands({ run: 0 }), isFineAlone: true },
    bundle: { scripts: [], commands: commands({ exec: 0 }), isFineAlone: true },
  }),
)

/** Without a prototype, for words of anybody are looked up in it. */
function commands(given: Readonly<Record<string, number>>): Readonly<Partial<Record<string, number>>> {
  return Object.assign(Object.create(null), given)
}

/** Options that are known to take no value; or of which the value decides, and ends the options. `sh` is any shell. */
export const FLAGS: Readonly<Partial<Record<string, RegExp>>> = {
  sh: /^[-+](?!.*[oO])[A-Za-z]+$|^--(?:posix|login|norc|noprofile|verbose|restricted|noediting)$/,
  python: /^-[bBdEhiIOPqRsSuvx]*[cm]?$/,
  node: /^--(?:test|watch|check|no-warnings|enable-source-maps|experimental-strip-types|expose-gc|inspect|inspect-brk)$/,
  perl: /^-[wWtTcnpasuU]+$/,
  ruby: /^-[wvnpalc]+$/,
  php: /^-[nq]+$/,
  awk: /^-[Fv]./,
  rm: /^-/,
  git: /^(?:-[pP]|--(?:no-pager|paginate|bare|no-replace-objects|literal-pathspecs|no-optional-locks))$/,
  sudo: /^-[nEHSkAbPB]+$/,
  doas: /^-[nL]+$/,
  env: /^(?:-[i0v]*|--ignore-environment|--null)$/,
  xargs: /^(?:-[0rtxpo]+|--null|--no-run-if-empty|--verbose)$/,
  timeout: /^(?:-[vfp]+|--foreground|--preserve-status|--verbose)$/,
  time: /^-[pvq]+$/,
  taskset: /^-[acp]+$/,
  flock: /^(?:-[snxeouF]+|--(?:nonblock|nb|shared|exclusive|close|no-fork))$/,
  setsid: /^-[cfw]+$/,
  command: /^-p$/,
  strace: /^-[fFqvdDhiktTxyzZ]+$/,
}

/** Options with which code is read from a terminal or a pipe, or put together from all words that follow. */
export const READS_CODE: Readonly<Partial<Record<string, RegExp>>> = {
  sh: /^-[A-Za-z]*s/,
  powershell: /^[-/][ce]/i,
  pwsh: /^[-/][ce]/i,
}
