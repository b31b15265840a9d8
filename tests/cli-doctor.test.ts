import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { eventually } from '@waldo/testkit'
import { ACCOUNTS, type Account, become, openAccount } from './sandbox/escape/account.ts'
import { installExecutable } from './sandbox/escape/executable.ts'
import { commandLine, descendantsOf, isAlive } from './sandbox/escape/processes.ts'

/** A bubblewrap that does as if, and lets the command do what it wants. */
const FAKE_BUBBLEWRAP = `#!/usr/bin/python3 -IS
import json, os, subprocess, sys
if '--version' in sys.argv: sys.exit(print('bubblewrap 9.9.9'))
command = sys.argv[sys.argv.index('--') + 1:]
if '--args' not in sys.argv: os.execvp(command[0], command)
options = [word.decode() for word in open(4, 'rb').read().split(b'\\0')]
env = {options[at + 1]: options[at + 2] for at, word in enumerate(options) if word == '--setenv'}
os.chdir(options[options.index('--chdir') + 1])
code = subprocess.run(command, env=env).returncode
os.write(5, json.dumps({'exit-code': code}).encode())
sys.exit(code)
`

/** A bubblewrap whose second attempt to escape takes its time, in a real sandbox. */
const slowBubblewrap = (real: string) => `#!/bin/sh
case "$*" in *'> link/made'*) exec ${real} --args 4 -- /bin/sleep 60 ;; esac
exec ${real} "$@"
`

/** Somebody who wants to know what this machine can do, in a directory of their own that everybody can get to. */
class Operator implements Disposable {
  readonly #account: Account
  readonly #directory = mkdtempSync('/var/tmp/waldo-cli-doctor-')
  readonly stateHome = join(this.#directory, 'state')

  constructor(account: Account) {
    this.#account = account
    chmodSync(this.#directory, 0o755)
    mkdirSync(this.stateHome)
    chownSync(this.stateHome, account.uid, account.gid)
  }

  /** Goes before a command line, for which a program is another, which may want to know where the real one is. */
  replacing(program: string, script: string | ((real: string) => string)): string[] {
    const [file, real] = [join(this.#directory, 'program'), join(this.#directory, 'real')]
    copyFileSync(program, real)
    writeFileSync(file, typeof script === 'string' ? script : script(real), { mode: 0o755 })
    const mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
    return ['unshare', '--mount', '--propagation=private', 'sh', '-c', mount, file, realpathSync(program)]
  }

  /** `prefix` goes before what makes it the account's, `inner` after it. */
  start(args: readonly string[], { prefix = [], inner = [] }: { prefix?: string[]; inner?: string[] } = {}) {
    const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: this.#directory, XDG_STATE_HOME: this.stateHome }
    const cmd = [...prefix, ...become(this.#account), ...inner, executable, 'doctor', ...args]
    return Bun.spawn(cmd, { env, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
  }

  async run(...start: Parameters<Operator['start']>) {
    const child = this.start(...start)
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    assert.deepEqual(leftBy(child.pid), [])
    return { stdout, stderr, code }
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** Where it tries things. The process that we start becomes it, whatever is put before. */
const leftBy = (pid: number) => readdirSync('/var/tmp').filter((name) => name.startsWith(`waldo-doctor-${pid}-`))

let installed = ''
let executable = ''
before(() => {
  installed = mkdtempSync('/var/tmp/waldo-cli-doctor-')
  chmodSync(installed, 0o755)
  executable = installExecutable(installed)
})
after(() => rmSync(installed, { recursive: true, force: true }))

for (const title of ACCOUNTS) {
  const account = openAccount(title)

  describe(`waldo doctor, as ${title}`, () => {
    test('shows what this machine can do, and that nothing gets out', async () => {
      using operator = new Operator(account)
      const { code, stdout, stderr } = await operator.run([])
      assert.equal(stderr, '')
      assert.doesNotMatch(stdout, /✗/)
      assert.match(stdout, /^ {2}✓ sandbox +bubblewrap \d/m)
      assert.match(stdout, /^ {2}✓ Ctrl-C and jobs +work/m)
      assert.match(stdout, /^ {2}✓ managed network +works/m)
      assert.match(stdout, new RegExp(`^ {2}✓ state directory +${operator.stateHome}/waldo, private$`, 'm'))
      assert.match(stdout, /^ {2}✓ cannot write outside the workspace$/m)
      assert.match(stdout, /^The sandbox holds: \d+ attempts to escape, all in vain\.$/m)
      assert.match(stdout, account.uid === 0 ? /! user +root.*\n +→ useradd/ : /✓ user +waldo-probe/)
      assert.ok(stdout.split('\n').every((line) => line.length <= 100))
      assert.equal(code, 0)
      // What is there for the next time, and nothing of this one.
      assert.deepEqual(readdirSync(join(operator.stateHome, 'waldo')).sort(), ['masks', 'mount-points'])
      assert.deepEqual(readdirSync(join(operator.stateHome, 'waldo/mount-points')), ['lock'])
    })

    test('tells programs the same', async () => {
      using operator = new Operator(account)
      const { code, stdout } = await operator.run(['--json'])
      const report = JSON.parse(stdout)
      assert.equal(report.ok, true)
      assert.deepEqual(report.machine.user, { uid: account.uid, name: account.name })
      assert.equal(report.sandbox.mechanism, 'bubblewrap')
      assert.deepEqual(report.limits.wallMs, { by: 'timer' })
      assert.ok(report.jobControl.works && report.managedNetwork.works)
      assert.ok(report.attempts.length >= 15)
      for (const { attempt, outcome } of report.attempts) assert.equal(outcome, 'held', attempt)
      assert.equal(code, 0)
    })

    test('says why there can be no sandbox, and what to do about it', async () => {
      using operator = new Operator(account)
      // In a namespace in which nobody is anybody, no more can be made.
      const inner = ['unshare', '--user']
      const { code, stdout } = await operator.run([], { inner })
      assert.match(stdout, /^ {2}✗ sandbox +none: bwrap: .*namespace/m)
      assert.match(stdout, /^ {4}→ .+/m)
      assert.match(stdout, /There is no sandbox here/)
      assert.equal(code, 1)
      const { ok, sandbox, attempts } = JSON.parse((await operator.run(['--json'], { inner })).stdout)
      assert.deepEqual([ok, sandbox.available, attempts], [false, false, []])
      assert.ok(sandbox.reason.length > 0 && sandbox.remedy.length > 0)
    })

    test('cleans up when it is interrupted', async () => {
      for (const [signal, expected] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
      ] as const) {
        using operator = new Operator(account)
        const child = operator.start([], { prefix: operator.replacing('/usr/bin/bwrap', slowBubblewrap) })
        let family: number[] = []
        let text = ''
        for await (const bytes of child.stdout) {
          text += new TextDecoder().decode(bytes)
          if (family.length > 0 || !text.includes('✓ cannot')) continue
          const isSlow = (pid: number) => commandLine(pid) === '/bin/sleep 60'
          await eventually(() => descendantsOf(child.pid).some(isSlow), 'the second attempt')
          family = descendantsOf(child.pid)
          child.kill(signal)
        }
        assert.equal(await child.exited, expected)
        assert.doesNotMatch(text, /The sandbox/)
        await eventually(() => !family.some(isAlive), 'everything that it has started to end')
        assert.deepEqual(leftBy(child.pid), [])
        assert.deepEqual(readdirSync(join(operator.stateHome, 'waldo/mount-points')), ['lock'])
      }
    })
  })
}

describe('waldo doctor', () => {
  const root = openAccount('root')

  test('finds out a sandbox that is none', async () => {
    using operator = new Operator(root)
    const prefix = operator.replacing('/usr/bin/bwrap', FAKE_BUBBLEWRAP)
    const { code, stdout } = await operator.run([], { prefix })
    assert.match(stdout, /✓ sandbox +bubblewrap 9\.9\.9/)
    assert.match(stdout, /✗ can write outside the workspace: outside\/made has appeared/)
    assert.match(stdout, /✗ can connect to UNIX sockets: a UNIX socket was reached/)
    assert.match(stdout, /The sandbox leaks \(\d+ of \d+\)/)
    // The network of a command is taken away before bubblewrap starts, where we may do that.
    const held = stdout.split('\n').filter((line) => line.startsWith('  ✓ cannot'))
    assert.deepEqual(held, ['  ✓ cannot connect to a port of this machine'])
    assert.equal(code, 1)
  })

  test('tells that Ctrl-C does not reach commands', async () => {
    using operator = new Operator(root)
    const prefix = operator.replacing('/usr/bin/env', '#!/bin/sh\necho "env: unrecognized option: $1"; exit 1\n')
    const { code, stdout } = await operator.run([], { prefix })
    assert.match(stdout, /! Ctrl-C and jobs +Ctrl-C ends the sandbox .*\n +→ install GNU coreutils/)
    assert.equal(code, 0)
  })

  test('asks for a state directory that nobody else can look into', async () => {
    using operator = new Operator(root)
    mkdirSync(join(operator.stateHome, 'waldo'), { mode: 0o755 })
    const { code, stdout } = await operator.run([])
    assert.match(stdout, /! state directory .*: +others can look into it\s+\(mode\s+755\)/)
    assert.ok(stdout.includes(`\n    → chmod 700 ${operator.stateHome}/waldo\n`))
    assert.equal(code, 0)
  })

  test('has no sandbox without a state directory', async () => {
    using operator = new Operator(root)
    writeFileSync(join(operator.stateHome, 'waldo'), 'a file')
    const { code, stdout } = await operator.run([])
    assert.match(stdout, /✗ sandbox +none: it needs a state directory\n.*✗ state directory .*: E\w+: .*\n +→ set HOME/)
    assert.equal(code, 1)
  })

  test('explains itself, and takes nothing that it does not know', async () => {
    using operator = new Operator(root)
    assert.match((await operator.run(['--help'])).stdout, /Usage: waldo doctor \[--json\]/)
    for (const args of [['now'], ['--', 'now'], ['--fast']]) {
      const { code, stderr } = await operator.run(args)
      assert.match(stderr, /(now|--fast)`\nwaldo doctor --help shows how/)
      assert.equal(code, 1)
    }
  })
})
