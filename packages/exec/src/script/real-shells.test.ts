import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { grammarFiles } from '../node/bash-grammar.ts'
import { assertOnlySegments, type Started, type Trace } from './fixtures/compare-trace.ts'
import { PLAIN_SCRIPTS, TWICE } from './fixtures/plain-scripts.ts'
import { HARMLESS_FRAGMENTS, ODD_FRAGMENTS } from './fixtures/script-fragments.ts'
import { ScriptParser } from './script-parser.ts'

interface TracedShell {
  readonly title: string
  readonly program: string
  /** How we know it. */
  readonly name: 'bash' | 'sh' | 'zsh'
  /** Commands of its own are replaced by programs, so that they are seen, too. */
  readonly withoutBuiltins?: true
}

/** What every program is: it notes how it was started, and fails if its name says so. */
const STUB = `#!/bin/dash
printf '%s\\0' "\${0##*/}" "$@" > "$WALDO_TRACE/$$.words"
/bin/cat "/proc/$$/environ" > "$WALDO_TRACE/$$.environment"
/usr/bin/find "/proc/$$/fd" -maxdepth 1 -type l -fprintf "$WALDO_TRACE/$$.descriptors" '%f %l\\0'
echo $$ >> "$WALDO_TRACE/order"
case "$0" in */fail*) exit 1 ;; esac
exit 0
`

/** A mistake must not hurt the machine: little time, small files, few of everything. */
const LIMITS = 'ulimit -t 3 -f 1024 -n 64 -c 0; exec "$@"'
const TIME_LIMIT_MS = 10_000
const NOBODY = 65_534
/** Before the words of a command that does not exist. */
const NOT_FOUND = 'waldo-not-found'

/** Runs scripts in real shells, as nobody, where no program exists but ours, and tells what was started. */
class ShellTracer {
  readonly #root: string
  readonly #stubs = new Set<string>()
  #runs = 0

  private constructor(root: string) {
    this.#root = root
  }

  static async create(): Promise<ShellTracer> {
    const root = await mkdtemp(join(tmpdir(), 'waldo-traced-'))
    await chmod(root, 0o755)
    await mkdir(join(root, 'stubs'))
    await writeFile(join(root, 'stub'), STUB, { mode: 0o755 })
    const unfound = `command_not_found_handle() { "${join(root, 'stub')}" ${NOT_FOUND} "$@"; }\n`
    await writeFile(join(root, 'live'), unfound)
    // All of them at once: afterwards there is nothing left to do it with.
    await writeFile(join(root, 'bare'), `${unfound}enable -n $(compgen -b)\n`)
    return new ShellTracer(root)
  }

  async run(shell: TracedShell, script: string): Promise<Trace> {
    const run = join(this.#root, `run-${++this.#runs}`)
    const [directory, trace] = [join(run, 'directory'), join(run, 'trace')]
    for (const path of [run, directory, trace]) await mkdir(path)
    for (const path of [directory, trace]) await chmod(path, 0o777)
    await this.#makeStubs(script)
    const env = {
      PATH: join(this.#root, 'stubs'),
      HOME: directory,
      WALDO_TRACE: trace,
      ...(shell.name === 'bash' ? { BASH_ENV: join(this.#root, shell.withoutBuiltins ? 'bare' : 'live') } : {}),
    }
    const options = shell.name === 'zsh' ? ['-f', '-c'] : ['-c']
    await runLimited([shell.program, ...options, script], directory, env)
    const order = await readFile(join(trace, 'order'), 'utf8').catch(() => '')
    const pids = order.split('\n').filter((pid) => pid !== '')
    const started = await Promise.all(pids.map((pid) => readStarted(join(trace, pid))))
    const files = await readdir(directory)
    await rm(run, { recursive: true })
    return { started, files, directory }
  }

  async close(): Promise<void> {
    await rm(this.#root, { recursive: true })
  }

  /** For everything in a script that could be a name. */
  async #makeStubs(script: string): Promise<void> {
    for (const name of script.match(/[\w@%+,.:-]+/g) ?? []) {
      if (name === '.' || name === '..' || name.length > 100 || this.#stubs.has(name)) continue
      this.#stubs.add(name)
      await symlink(join(this.#root, 'stub'), join(this.#root, 'stubs', name))
    }
  }
}

async function readStarted(path: string): Promise<Started> {
  const fields = async (kind: string) => (await readFile(`${path}.${kind}`, 'utf8')).split('\0').slice(0, -1)
  const split = (text: string, by: string) =>
    [text.slice(0, text.indexOf(by)), text.slice(text.indexOf(by) + 1)] as const
  const words = await fields('words')
  return {
    words: words[1] === NOT_FOUND ? words.slice(2) : words,
    environment: new Map((await fields('environment')).map((text) => split(text, '='))),
    descriptors: new Map(
      (await fields('descriptors')).map((text) => {
        const [number, target] = split(text, ' ')
        return [Number(number), target]
      }),
    ),
  }
}

function runLimited(argv: readonly string[], cwd: string, env: Record<string, string>): Promise<void> {
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/dash', ['-c', LIMITS, 'limited', ...argv], {
      cwd,
      env,
      // A group of its own, so that nothing of it is left.
      detached: true,
      stdio: 'ignore',
      ...identity,
    })
    const timer = setTimeout(() => endGroup(child.pid), TIME_LIMIT_MS)
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('exit', () => {
      clearTimeout(timer)
      endGroup(child.pid)
      resolve()
    })
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // It is gone already.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

const SHELLS: readonly TracedShell[] = [
  { title: 'bash without builtins', program: '/bin/bash', name: 'bash', withoutBuiltins: true },
  { title: 'bash', program: '/bin/bash', name: 'bash' },
  { title: 'dash', program: '/bin/dash', name: 'sh' },
  { title: 'zsh', program: '/bin/zsh', name: 'zsh' },
]
const parser = new ScriptParser(grammarFiles)
let tracer: ShellTracer

before(async () => {
  tracer = await ShellTracer.create()
})
after(() => tracer.close())

/** How many programs were started; undefined if the script is opaque. */
async function check(shell: TracedShell, script: string): Promise<number | undefined> {
  const line = await parser.commandLine([shell.name, '-c', script])
  if (line.kind === 'opaque') return undefined
  const trace = await tracer.run(shell, script)
  const isPipeline = script.replaceAll('||', '').includes('|')
  try {
    assertOnlySegments(trace, line.segments, !isPipeline)
  } catch (cause) {
    throw new Error(`${shell.title} ran ${JSON.stringify(script)} otherwise than it was read`, { cause })
  }
  return trace.started.length
}

const CHARACTERS = fc.constantFrom(...'\n\t \'"\\$`*?[]{}()<>|&;~^#!=%+,-./:@_019aE\r\u00a0é')

/** A plain script with a few characters in it that were not there. */
const MISTYPED = fc
  .tuple(
    fc.constantFrom(...Object.values(PLAIN_SCRIPTS).flat()),
    fc.array(fc.tuple(fc.nat(), fc.nat({ max: 1 }), fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), CHARACTERS)), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([script, changes]) =>
    changes.reduce((text, [position, removed, character]) => {
      const at = position % (text.length + 1)
      return text.slice(0, at) + character + text.slice(at + removed)
    }, script),
  )

describe('a plain script is run by a real shell as it was read', () => {
  for (const [title, scripts] of Object.entries(PLAIN_SCRIPTS)) {
    test(title, async () => {
      for (const shell of SHELLS) {
        const counts = await Promise.all(scripts.map((script) => check(shell, script)))
        for (const [index, count] of counts.entries()) {
          const isOpaque = shell.name === 'zsh' && title === TWICE
          assert.equal(count === undefined, isOpaque, `${shell.title}: ${JSON.stringify(scripts[index])}`)
        }
        const started = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
        if (shell.withoutBuiltins) assert.ok(started >= scripts.length, `only ${started} commands were seen`)
      }
    })
  }

  test('however it is put together', async () => {
    let plain = 0
    const fragment = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...HARMLESS_FRAGMENTS) },
      { weight: 1, arbitrary: fc.constantFrom(...ODD_FRAGMENTS) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fragment, { minLength: 1, maxLength: 10 }), async (fragments) => {
        const counts = await Promise.all(SHELLS.map((shell) => check(shell, fragments.join(''))))
        if (counts.some((count) => count !== undefined)) plain++
      }),
      { numRuns: 700 },
    )
    assert.ok(plain > 50, `only ${plain} of them were plain`)
  })

  test('wherever it is mistyped', async () => {
    let plain = 0
    await fc.assert(
      fc.asyncProperty(MISTYPED, async (script) => {
        const counts = await Promise.all(SHELLS.map((shell) => check(shell, script)))
        if (counts.some((count) => count !== undefined)) plain++
      }),
      { numRuns: 500 },
    )
    assert.ok(plain > 50, `only ${plain} of them were plain`)
  })
})

test('a shell that does something else than was read is noticed', async () => {
  for (const [run, script] of [
    ['ls; pwd', 'ls'],
    ['ls; ls', 'ls'],
    ['pwd; ls', 'ls; pwd'],
    ['ls a', 'ls'],
    ['ls "a b"', 'ls a b'],
    ['ls {a,b}', 'ls "{a,b}"'],
    ['FOO=1 ls', 'ls'],
    ['FOO=1 ls', 'FOO=2 ls'],
    ['ls > a', 'ls'],
    ['ls > a', 'ls > b'],
    ['ls > a 2>&1', 'ls > a 2> b'],
    ['ls 3> a', 'ls > a'],
    ['ls; > a', 'ls'],
    ['é x', 'x'],
  ] as const) {
    const line = await parser.commandLine(['bash', '-c', script])
    assert.ok(line.kind === 'plain')
    const trace = await tracer.run(SHELLS[0]!, run)
    assert.throws(() => assertOnlySegments(trace, line.segments, true), /started something else|made a file/, run)
  }
})

test('commands of a pipeline are told apart, whichever came first', async () => {
  const line = await parser.commandLine(['bash', '-c', 'cat | cat > log'])
  assert.ok(line.kind === 'plain')
  const cat = (target: string): Started => ({
    words: ['cat'],
    environment: new Map(),
    descriptors: new Map([[1, target]]),
  })
  const directory = '/d'
  const [piped, written] = [cat('pipe:[1]'), cat('/d/log')]
  for (const started of [[piped, written], [written, piped], [written]]) {
    assertOnlySegments({ started, files: [], directory }, line.segments, false)
  }
  for (const started of [
    [piped, piped],
    [written, written, piped],
    [cat('/d/other'), piped],
  ]) {
    assert.throws(() => assertOnlySegments({ started, files: [], directory }, line.segments, false), /something else/)
  }
})
