import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CallError } from '@waldo/testkit'
import { forEachAccount } from './escape/for-each-account.ts'
import { managedNetwork } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

/** Everything that may be run on the way into a sandbox, by whoever is not in it yet. */
const ON_THE_WAY = ['bwrap', 'nsenter', 'setsid', 'setpriv', 'prlimit', 'env', 'sh', 'bash', 'unshare', 'waldo', 'ip']
const PLANT = `mkdir $WS/bin; for name in ${ON_THE_WAY.join(' ')}; do
  printf '#!/bin/sh\\necho x > %s/pwn\\nexec /usr/bin/%s "$@"\\n' $OUT $name > $WS/bin/$name; chmod 755 $WS/bin/$name
done`

forEachAccount('on its way into a sandbox a command', (bench) => {
  test('meets no program that lies in its workspace, whatever its PATH is', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, PLANT)
    const { env } = bench().commandDefaults(trial.surroundings)
    const planted = {
      ...env,
      PATH: `${trial.ws}/bin:${env.PATH}`,
      BASH_ENV: `${trial.ws}/bin/sh`,
      ENV: `${trial.ws}/bin/sh`,
    }
    for (const more of [{ tty: false }, { tty: true }, { arg0: 'other' }, { limits: { fileBytes: 1_000_000 } }]) {
      const { exitCode } = await trial.run(['/bin/sh', '-c', 'exit 9'], {
        env: planted,
        cwd: `file://${trial.ws}/bin`,
        ...more,
      })
      assert.equal(exitCode, 9, JSON.stringify(more))
    }
    const network = managedNetwork({ domains: {}, allowLocalBinding: false })
    const sandbox = trial.sandbox()
    sandbox.permissions.network = 'enabled'
    const { exitCode } = await trial.run(['/bin/sh', '-c', 'exit 9'], { env: planted, sandbox, ...network })
    assert.equal(exitCode, 9)
    await trial.endsWell()
  })

  test('takes its variables to nobody who is not in it yet', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const { env } = bench().commandDefaults(trial.surroundings)
    // The dynamic linker of everybody who has these says what it loads: they could have been LD_PRELOAD as well.
    const linker = { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: `${trial.ws}/linker` }
    await trial.run(['/bin/cat', '/dev/null'], { env: { ...env, ...linker } })
    const traces = readdirSync(trial.ws).filter((name) => name.startsWith('linker.'))
    const loaded = traces.map((name) => readFileSync(join(trial.ws, name), 'latin1')).join('')
    assert.match(loaded, /initialize program: \/bin\/cat/)
    assert.doesNotMatch(loaded, /program: \S*(bwrap|nsenter|prlimit|setpriv|waldo)/)
    await trial.endsWell()
  })

  test('cannot pass off its arguments for those of the sandbox', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const script = `echo x > ${trial.out}/pwn`
    for (const argv of [
      ['--bind', '/', '/', '/bin/sh', '-c', script],
      ['--', '/bin/sh', '-c', script],
      ['--args', '0'],
      ['A=B', '/bin/sh', '-c', script],
      ['-i', '/bin/sh', '-c', script],
    ]) {
      const ended = trial.run(argv).then(({ exitCode }) => exitCode)
      assert.notEqual(await ended.catch((error) => assert.ok(error instanceof CallError)), 0, argv.join(' '))
    }
    await trial.endsWell()
  })

  test('keeps its name, its arguments and its variables to the letter', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const { env } = bench().commandDefaults(trial.surroundings)
    const odd = { EMPTY: '', LINES: 'a\nb\n', QUOTES: `"'\\$(x)`, ACCENT: 'é€', lower: '=', '--bind': '/' }
    const args = ['', ' ', '-n', '--', '$(id)', '\n', "'", 'é']
    for (const arg0 of [undefined, 'other name', '-cat']) {
      const more = { env: { ...env, ...odd }, ...(arg0 === undefined ? {} : { arg0 }) }
      const show = ['/usr/bin/python3', '-ISc', SHOW, ...args]
      const [inside, outside] = [await trial.run(show, more), await trial.run(show, { ...more, sandbox: undefined })]
      assert.deepEqual(JSON.parse(inside.stdout), JSON.parse(outside.stdout))
      assert.deepEqual(JSON.parse(inside.stdout).args, args)
    }
  })

  test('can be called anything', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    for (const processId of [`../../../../../..${trial.out}/pwn`, '/', '..', 'a\0b', 'é'.repeat(5000), '']) {
      const { error } = await trial.call('process/start', {
        ...bench().commandDefaults(trial.surroundings),
        ...{ processId, argv: ['/bin/true'], tty: false, limits: { fileBytes: 1_000_000 } },
      })
      if (error) assert.ok([-32600, -32602].includes(error.code), `${error.code} ${error.message}`)
      else assert.ok(await trial.connection.ended(processId))
    }
    await trial.endsWell()
  })
})

/** The markers of a sandbox are its own. */
const SHOW = `import json, os, sys
command = open('/proc/self/cmdline').read().split(chr(0))
mine = {k: v for k, v in os.environ.items() if not k.startswith(('CODEX_', 'WALDO_', 'PWD', 'SHLVL', '_'))}
print(json.dumps({'name': command[0], 'args': sys.argv[1:], 'env': mine}))`
