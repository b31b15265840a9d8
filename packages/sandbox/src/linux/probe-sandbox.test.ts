import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, describe, test } from 'node:test'
import { eventually } from '@waldo/testkit'
import { ThisHost } from '../this-host.ts'
import { LinuxSandbox } from './linux-sandbox.ts'
import { MemoryFile } from './memory-file.ts'
import { PreparedSandbox } from './prepared-sandbox.ts'
import { probeSandbox } from './probe-sandbox.ts'

const directory = mkdtempSync(join(tmpdir(), 'waldo-probe-'))
after(() => rmSync(directory, { recursive: true }))

/** A sandbox whose bubblewrap is a script. */
class Broken extends LinuxSandbox {
  readonly #script = join(directory, 'bwrap')

  constructor(script: string) {
    super({ stateDir: directory, hidden: () => [] })
    writeFileSync(this.#script, `#!/bin/sh\n${script}`)
    chmodSync(this.#script, 0o755)
  }

  override prepare(): PreparedSandbox {
    return new PreparedSandbox({
      facts: new ThisHost(),
      files: undefined,
      mounts: undefined,
      bubblewrap: this.#script,
      network: undefined,
      seccomp: new MemoryFile(),
      isolation: { pipes: [], terminal: [] },
      hold: () => ({ check: undefined, release: undefined, ended: () => {} }),
    })
  }
}

const complaining = (text: string) => probeSandbox(new Broken(`echo "${text}" >&2; exit 1`))
const isSet = (name: string, value: string) => {
  try {
    return readFileSync(`/proc/sys/${name}`, 'utf8').trim() === value
  } catch {
    return false
  }
}

describe('a sandbox on this machine', () => {
  const { container } = process.env
  afterEach(() => {
    if (container === undefined) delete process.env.container
    else process.env.container = container
  })

  test('is there if a command runs in it', async () => {
    const sandbox = new LinuxSandbox({ stateDir: directory, hidden: () => [] })
    probeSandbox(sandbox)
    const before = readdirSync('/proc/self/fd').length
    const { version, landlock = 0, ...info } = probeSandbox(sandbox)
    assert.deepEqual(info, { available: true, mechanism: 'bubblewrap' })
    assert.match(version!, /^\d+\.\d+/)
    assert.ok(landlock >= 0)
    await eventually(() => readdirSync('/proc/self/fd').length <= before, 'nothing to be left open')
    sandbox.close()
  })

  test('is not there if bubblewrap cannot make one, and the reason is told', () => {
    const { available, reason } = complaining('bwrap: out of order.\n')
    assert.deepEqual([available, reason], [false, 'bwrap: out of order'])
    assert.equal(complaining('x'.repeat(1000)).reason?.length, 300)
    assert.equal(probeSandbox(new Broken('exit 3')).reason, 'bubblewrap ended with 3')
  })

  test('is not there if the command never began, whatever bubblewrap says', () => {
    assert.equal(probeSandbox(new Broken('exit 0')).available, false)
    assert.equal(probeSandbox(new Broken(`printf '{ "exit-code": 0 }' >&5`)).available, true)
  })

  const remedies: Record<string, RegExp> = {
    'bubblewrap is not installed': /^apt-get install bubblewrap/,
    "bwrap: Can't mount proc on /newroot/proc: Operation not permitted": /systempaths=unconfined.*procMount/,
    'bwrap: Failed to make / slave: Operation not permitted': /seccomp=unconfined.*`external`/,
    'bwrap: pivot_root: Invalid argument': /seccomp=unconfined/,
    'there is no system call filter for riscv64 processors': /x64 or arm64/,
    'bwrap: something else': /^run `bwrap --unshare-all/,
  }
  for (const [complaint, remedy] of Object.entries(remedies)) {
    test(`can be had after "${complaint}"`, () => {
      process.env.container = 'podman'
      const info = complaining(complaint)
      assert.equal(info.reason, complaint)
      assert.match(info.remedy!, remedy)
    })
  }

  test('that may make no namespaces is helped with the setting that keeps it from them', () => {
    process.env.container = 'podman'
    const expected = isSet('kernel/apparmor_restrict_unprivileged_userns', '1')
      ? /apparmor_restrict_unprivileged_userns=0/
      : isSet('kernel/unprivileged_userns_clone', '0')
        ? /unprivileged_userns_clone=1/
        : isSet('user/max_user_namespaces', '0')
          ? /max_user_namespaces/
          : /seccomp=unconfined/
    assert.match(complaining('bwrap: No permissions to create new namespace').remedy!, expected)
  })
})
