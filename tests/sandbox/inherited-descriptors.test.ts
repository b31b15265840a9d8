import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachAccount } from './escape/for-each-account.ts'
import { Trial } from './escape/trial.ts'

forEachAccount('descriptors that the server was started with', (bench) => {
  test('are in no command', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const descriptors = `6<${trial.out}/keep.txt 7</ 8<>${trial.ws}/fifo 9<${trial.ws}/secret/key`
    await using server = await bench().startServer({ descriptors })
    await using connection = await bench().connect(server)
    const members = bench().commandDefaults(trial.surroundings)
    // 3 is the directory that ls itself reads.
    const argv = ['/bin/sh', '-c', 'ls /proc/self/fd | tr "\\n" " "']
    for (const sandbox of [undefined, trial.sandbox()]) {
      for (const tty of [false, true]) {
        const seen = await connection.run(argv, { ...members, sandbox, tty })
        assert.equal(`${seen.stdout}${seen.pty}`.trim(), '0 1 2 3', `sandbox ${sandbox !== undefined}, tty ${tty}`)
      }
    }
    await trial.endsWell()
  })
})
