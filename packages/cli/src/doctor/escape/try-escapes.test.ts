import assert from 'node:assert/strict'
import { accessSync, chmodSync, constants, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { LinuxSandbox } from '@waldo/sandbox/linux'
import type { AttemptResult } from '../report.ts'
import { ATTEMPTS } from './attempts.ts'
import { SandboxedShell, type Shell } from './sandboxed-shell.ts'
import type { Scene } from './scene.ts'
import { tryEscape, tryEscapes } from './try-escapes.ts'

const directory = mkdtempSync(join(tmpdir(), 'waldo-doctor-test-'))
const stateDir = join(directory, 'state')
after(() => {
  // Who is not root has to look into it to remove it.
  chmodSync(join(stateDir, 'masks/denied-directory'), 0o700)
  rmSync(directory, { recursive: true, force: true })
})
mkdirSync(stateDir)
writeFileSync(join(stateDir, 'log'), '')

/** What only root can do, and not in a container. */
const OF_ROOT = ['change settings of the kernel', 'reach disks or make devices']
const ownsMachine = process.getuid?.() === 0 && canWrite('/proc/sys/kernel/core_pattern')
const never = new AbortController().signal

/** A shell with all rights that we have. */
const unconfined: Shell = {
  async run(script, { workspace: cwd, env }, signal) {
    const child = Bun.spawn(['/bin/sh', '-c', script], { cwd, env, signal, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, complaint] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { ran: true, stdout, complaint }
  },
}

function canWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

async function outcomes(shell: Shell): Promise<Record<string, string>> {
  const results: AttemptResult[] = []
  for await (const result of tryEscapes({ shell, stateDir, signal: never })) results.push(result)
  return Object.fromEntries(results.map(({ attempt, outcome }) => [attempt, outcome]))
}

const all = (outcome: string) => Object.fromEntries(ATTEMPTS.map(({ title }) => [title, outcome]))
const scenes = () => readdirSync('/var/tmp').filter((name) => name.startsWith(`waldo-doctor-${process.pid}-`))

describe('attempts to escape', () => {
  test('all fail in a sandbox', async () => {
    const sandbox = new LinuxSandbox({ stateDir, hidden: () => [stateDir] })
    try {
      assert.deepEqual(await outcomes(new SandboxedShell(sandbox)), all('held'))
    } finally {
      sandbox.close()
    }
  })

  test('all get through where there is no sandbox, each in every way', async () => {
    for (const { title, ways } of ATTEMPTS) {
      if (OF_ROOT.includes(title) && !ownsMachine) continue
      for (const way of ways) {
        const { outcome } = await tryEscape({ title, ways: [way] }, { shell: unconfined, stateDir, signal: never })
        assert.equal(outcome, 'escaped', `${title}: ${way.script}`)
      }
    }
  })

  test('say what has happened', async () => {
    const attempt = (script: string) =>
      tryEscape({ title: 'x', ways: [{ script }] }, { shell: unconfined, stateDir, signal: never })
    assert.equal((await attempt('echo x >> "$OUTSIDE/kept"')).detail, 'outside/kept has changed')
    assert.equal((await attempt('mkdir .codex; false')).detail, 'workspace/.codex has appeared')
    assert.equal((await attempt('rm -r .git')).detail, 'workspace/.git is gone, workspace/.git/config is gone')
    assert.equal((await attempt('kill -9 "$BYSTANDER"; false')).detail, 'another process was killed')
    assert.equal((await attempt('true')).detail, 'the command says that it did')
    assert.deepEqual(await attempt('echo x > file; rm -r denied; false'), { attempt: 'x', outcome: 'held' })
  })

  test('prove nothing where what is allowed does not work', async () => {
    const [attempt] = ATTEMPTS
    const broken: Shell = { run: async () => ({ ran: false, stdout: '', complaint: 'no space left' }) }
    const result = await tryEscape(attempt!, { shell: broken, stateDir, signal: never })
    assert.deepEqual(result, { attempt: attempt!.title, outcome: 'failed', detail: 'no space left' })
  })

  test('are skipped where there is no tool for them', async () => {
    const ways = ['no-such-tool', 'nor-this'].map((needs) => ({ needs, script: 'true' }))
    const result = await tryEscape({ title: 'x', ways }, { shell: unconfined, stateDir, signal: never })
    assert.deepEqual(result, { attempt: 'x', outcome: 'skipped', detail: 'no no-such-tool, nor-this' })
  })

  test('do nothing if they cannot know where they are', async () => {
    const lost: Shell = {
      run: (script, { workspace }, signal) =>
        unconfined
          .run(script, { workspace: '/', env: { PATH: process.env.PATH } } as unknown as Scene, signal)
          .finally(() => {
            assert.ok(!readdirSync(workspace).includes('allowed'))
          }),
    }
    const { outcome } = await tryEscape(ATTEMPTS[0]!, { shell: lost, stateDir, signal: never })
    assert.equal(outcome, 'failed')
  })

  test('end at once when somebody wants them to, and leave nothing behind', async () => {
    const sandbox = new LinuxSandbox({ stateDir, hidden: () => [stateDir] })
    const stop = new AbortController()
    const shell = new SandboxedShell(sandbox)
    const interrupted: Shell = {
      run(script, scene, signal) {
        setTimeout(() => stop.abort(new Error('enough')), 50)
        return shell.run(`${script.replace('exit 0', '')}\nsleep 4`, scene, signal)
      },
    }
    try {
      await assert.rejects(tryEscape(ATTEMPTS[0]!, { shell: interrupted, stateDir, signal: stop.signal }), /enough/)
      assert.deepEqual(scenes(), [])
    } finally {
      sandbox.close()
    }
    assert.deepEqual(readdirSync(join(stateDir, 'mount-points')), ['lock'])
  })
})
