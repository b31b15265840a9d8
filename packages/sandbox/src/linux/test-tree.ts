import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { Policy } from '../policy/bind-policy.ts'
import type { ThisHost } from '../this-host.ts'
import { LinuxSandbox } from './linux-sandbox.ts'

/** `/` is a directory, an arrow makes a link; anything else is the text of a file. */
export type Tree = Readonly<Record<string, string>>

export const anyTree = fc
  .record(
    {
      'a/b': fc.constant('/'),
      'a/b/f': fc.constant('text'),
      'a/b/s.env': fc.constant('text'),
      'a/.git': fc.constantFrom('/', 'text', 'gitdir: ../c/d', '-> ../c'),
      'a/.git/config': fc.constant('text'),
      'a/.codex': fc.constantFrom('/', '-> ../c/d'),
      'a/link.env': fc.constantFrom('-> f', '-> ../c/f', '-> /nowhere'),
      'c/d': fc.constantFrom('/', '-> ../a/b', '-> ../e'),
      'c/d/f': fc.constant('text'),
      'c/d.env': fc.constantFrom('/', 'text'),
      'c/d.env/f': fc.constant('text'),
      l: fc.constantFrom('-> a', '-> c', '-> a/b', '-> c/f', '-> l'),
    },
    { requiredKeys: [] },
  )
  .map((tree) => ({ a: '/', 'a/f': 'text', c: '/', 'c/f': 'text', e: '/', 'e/f': 'text', ...tree }) as Tree)
  // What is below a link or a file is not in the tree.
  .filter((tree) => Object.keys(tree).every((path) => dirname(path) === '.' || tree[dirname(path)] === '/'))

/** Tries to look at, move and change all that is there, and to make what is not; and says what worked. */
const TRY_ALL = `
import json, os, sys
def attempt(act, path):
    try: result = act(path)
    except OSError: return False
    return True if result is None else result
def see(path):
    return os.listdir(path) if os.path.isdir(path) else open(path).read()
def move(path):
    os.rename(path, path + '-moved')
    os.rename(path + '-moved', path)
def change(path):
    with open(path, 'r+') as file: file.seek(0, 2); file.write('+')
def make(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'x') as file: file.write('+')
there, through, missing = json.load(sys.stdin)
print(json.dumps({
    'seen': {path: attempt(see, path) for path in there + through},
    'moved': [path for path in there if attempt(move, path)],
    'changed': [path for path in there + through if attempt(change, path)],
    'made': [path for path in missing if attempt(make, path)],
}))`

/** What worked in a sandbox. */
export interface Outcome {
  /** Names in a directory, or the text of a file; false if there was no way to see it. */
  readonly seen: Readonly<Record<string, false | string | string[]>>
  /** There and back again. */
  readonly moved: readonly string[]
  readonly changed: readonly string[]
  readonly made: readonly string[]
}

export interface Tried {
  /** Paths of what is there, without links. */
  readonly there: readonly string[]
  /** Paths of the same that lead through links. */
  readonly through: readonly string[]
  readonly missing: readonly string[]
}

/** For tests: a tree on this machine, and a sandbox for it. */
export class TestTree implements Disposable {
  readonly root = fs.mkdtempSync('/var/tmp/waldo-tree-')
  readonly #stateDir = fs.mkdtempSync('/var/tmp/waldo-state-')
  readonly sandbox = new LinuxSandbox({ stateDir: this.#stateDir, hidden: () => [this.#stateDir] })

  constructor(tree: Tree) {
    for (const [name, what] of Object.entries(tree).sort()) {
      const path = join(this.root, name)
      if (what === '/') fs.mkdirSync(path)
      else if (what.startsWith('-> ')) fs.symlinkSync(what.slice(3), path)
      else fs.writeFileSync(path, what)
    }
  }

  /** Everything that is on the machine, by its path. */
  look(directory = this.root): Record<string, string> {
    const found: Record<string, string> = {}
    for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) Object.assign(found, { [path]: '/' }, this.look(path))
      else found[path] = entry.isSymbolicLink() ? `-> ${fs.readlinkSync(path)}` : fs.readFileSync(path, 'utf8')
    }
    return found
  }

  /** One command in the sandbox tries everything. */
  async try(policy: Policy, facts: ThisHost, { there, through, missing }: Tried): Promise<Outcome> {
    const prepared = await this.sandbox.prepare({ policy, facts, network: 'restricted' })
    const program = fs.realpathSync('/usr/bin/python3')
    const command = { program, args: ['-c', TRY_ALL], arg0: undefined, cwd: '/', env: {} }
    const launch = prepared.launch(command, { terminal: false })
    const { argv, cwd, env, descriptors } = launch
    const stdin = Buffer.from(JSON.stringify([there, through, missing]))
    const child = Bun.spawn([...argv], { cwd, env, stdio: [stdin, 'pipe', 'pipe', ...descriptors] })
    launch.closeDescriptors()
    await launch.begin(() => child.kill('SIGKILL'))
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    assert.ok(launch.ran(child.signalCode !== null), stderr)
    await launch.settle()
    return JSON.parse(stdout)
  }

  [Symbol.dispose](): void {
    this.sandbox.close()
    for (const directory of [this.root, this.#stateDir]) fs.rmSync(directory, { recursive: true })
  }
}
