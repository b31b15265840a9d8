import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CallError } from '@waldo/testkit'
import type { Bench } from './escape/bench.ts'
import { forEachAccount } from './escape/for-each-account.ts'
import { type SandboxContext, type SandboxOptions, sandboxContext, uri } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

/** More than is kept in memory, so that some of it is in a file. */
const SECRET_OUTPUT = 'yes SAID-BY-ANOTHER | head -c 8000000'

function filesOf(bench: Bench): string[] {
  return readdirSync(bench.home, { recursive: true })
    .map((name) => join(bench.home, String(name)))
    .filter((path) => !path.startsWith(join(bench.home, '.codex')))
    .filter((path) => statSync(path).isFile())
}

forEachAccount('what other commands have said, and all else that the server keeps,', (bench) => {
  const profiles: Record<string, (trial: Trial) => SandboxOptions> = {
    'all files may be read': () => ({ profile: 'ro' }),
    'the home directory of the server is the workspace': () => ({ profile: 'ws', roots: [bench().home] }),
    'the directories above may be written to': () => ({
      profile: 'min',
      entries: ['.local', '.local/state'].map((name) => `write ${bench().home}/${name}`),
    }),
  }
  for (const [title, profile] of Object.entries(profiles)) {
    test(`cannot be read or changed, although ${title}`, async (context) => {
      if (!bench().isOwnServer) return context.skip('where another server keeps what is not known')
      await using trial = await Trial.open(bench(), { profile: 'ws' })
      await trial.run(SECRET_OUTPUT, { sandbox: undefined })
      const sandbox = sandboxContext(profile(trial), trial.ws)
      const before = filesOf(bench())
      assert.ok(before.length > 0)
      await tryCommand(trial, sandbox)
      for (const path of before) {
        assert.ok((await trial.call('fs/readFile', { path: uri(path), sandbox })).error, path)
        assert.ok((await trial.call('fs/writeFile', { path: uri(path), dataBase64: 'eA==', sandbox })).error, path)
        assert.ok((await trial.call('fs/open', { handleId: 'h', path: uri(path), sandbox })).error, path)
        const copy = { sourcePath: uri(path), destinationPath: uri(`${trial.ws}/copy`), recursive: true }
        assert.ok((await trial.call('fs/copy', { ...copy, sandbox })).error, path)
      }
      const grep = { path: uri(bench().home), pattern: 'SAID-BY', hidden: true, respectIgnore: false }
      assert.doesNotMatch(await trial.tell('fs/grep', { ...grep, sandbox }), /SAID-BY/)
      for (const path of ['.local', '.local/state', '.local/state/waldo'].map((name) => join(bench().home, name))) {
        const there = { sourcePath: uri(path), destinationPath: uri(`${path}-moved`) }
        const back = { sourcePath: there.destinationPath, destinationPath: there.sourcePath }
        const { error } = await trial.call('fs/rename', { ...there, sandbox })
        if (!error) await trial.call('fs/rename', { ...back, sandbox: undefined })
        assert.ok(error, path)
      }
      assert.ok((await trial.call('fs/remove', { path: uri(`${bench().home}/.local/state/waldo`), sandbox })).error)
      assert.deepEqual(
        filesOf(bench()).filter((path) => before.includes(path)),
        before,
      )
      await trial.endsWell()
    })
  }
})

async function tryCommand(trial: Trial, sandbox: SandboxContext): Promise<void> {
  const { home } = trial.bench
  // What has been moved is moved back: the server goes on.
  const script = `cd ${home}; grep -rs SAID-BY . && echo ESCAPE read
    for d in .local .local/state .local/state/waldo; do
      mv $d moved 2>/dev/null && { echo ESCAPE rename $d; mv moved $d; }
    done
    find .local/state/waldo -type f -exec sh -c 'echo x >> "$1" && echo ESCAPE write' sh {} ';' 2>/dev/null
    find .local/state/waldo -type f -exec sh -c 'rm -f "$1" && echo ESCAPE remove' sh {} ';' 2>/dev/null
    echo done`
  try {
    const { stdout } = await trial.run(script, { sandbox })
    assert.equal(stdout, 'done\n')
  } catch (error) {
    // A profile that opens them on purpose may be refused as a whole.
    if (!(error instanceof CallError)) throw error
    assert.equal(error.code, -32602)
  }
}
