import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CallError, eventually, memoryOf, processesWith } from '@waldo/testkit'
import { forEachAccount } from './escape/for-each-account.ts'
import { Trial } from './escape/trial.ts'

const MEBIBYTE = 2 ** 20

forEachAccount('a sandboxed process', (bench) => {
  test('that prints without end harms nobody, and can be ended', async (context) => {
    await using other = await Trial.open(bench(), { profile: 'ws' })
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const { connection } = trial
    if (!connection.capabilities.processPull && !bench().isOwnServer)
      return context.skip('output cannot be left unread')
    const processId = await trial.start('yes 8465001', { push: false })
    const until = async (condition: (state: Record<string, unknown>) => boolean) => {
      for (let afterSeq = 0; ; ) {
        const { result } = await connection.call('process/read', { processId, afterSeq, maxBytes: 1, waitMs: 5000 })
        if (condition(result!)) return
        afterSeq = Number(result!.nextSeq) - 1
      }
    }
    // More than is kept in memory of one process.
    await until(({ droppedBytes }) => Number(droppedBytes ?? 0) > 0)
    assert.equal((await other.run('echo here; exit 4')).exitCode, 4)
    assert.ok(memoryOf(bench().server.pid) < 1024)
    await connection.terminate(processId)
    await until(({ closed }) => closed === true)
    await eventually(() => processesWith('yes 8465001').length === 0, 'it to end')
    await trial.endsWell()
  })

  test('is one of a hundred at once, and each gets its own', async () => {
    await using trial = await Trial.open(bench(), { profile: 'deny' })
    const runs = Array.from({ length: 100 }, async (_, n) => {
      const seen = await trial.run(`echo ${n} > ${trial.ws}/n${n}; cat ${trial.ws}/n${n}; exit ${n}`)
      return [seen.stdout, seen.exitCode]
    })
    assert.deepEqual(
      await Promise.all(runs),
      Array.from({ length: 100 }, (_, n) => [`${n}\n`, n]),
    )
    await trial.endsWell()
  })

  test('takes thousands of arguments, and long ones', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const many = await trial.run(['/bin/sh', '-c', 'echo $#', 'sh', ...Array.from({ length: 8000 }, () => 'x')])
    assert.equal(many.stdout, '8000\n')
    const long = await trial.run(['/bin/sh', '-c', 'printf %s "$1" | wc -c', 'sh', 'x'.repeat(100_000)])
    assert.equal(long.stdout, '100000\n')
    await trial.endsWell()
  })

  test('that is given too much fails, and nothing else does', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const { env } = trial.bench.commandDefaults(trial.surroundings)
    const huge = 'x'.repeat(3 * MEBIBYTE)
    for (const [argv, more] of [
      [['/bin/true', huge], {}],
      [['/bin/true'], { env: { ...env, HUGE: huge } }],
      [['/bin/true', ...Array.from({ length: 200_000 }, () => 'x'.repeat(20))], {}],
    ] as const) {
      assert.match(await trial.failureOf(argv, more), /too long|too many|exceeded/i)
    }
    await trial.endsWell()
  })

  for (const [limit, amount, script] of [
    ['memoryBytes', 96 * MEBIBYTE, "print('ESCAPE', len(bytearray(512 * 2**20)))"],
    ['cpuSeconds', 1, 'while True: pass'],
    ['wallMs', 300, "import time; time.sleep(60); print('ESCAPE')"],
    ['fileBytes', MEBIBYTE, "open('big', 'wb').write(bytes(5 * 2**20)); print('ESCAPE')"],
  ] as const) {
    test(`that is granted so much of ${limit} gets no more, or is not started`, async (context) => {
      await using trial = await Trial.open(bench(), { profile: 'ws' })
      const hasLimits = Object.keys(trial.connection.capabilities).some((name) => /limits$/i.test(name))
      if (!hasLimits && !bench().isOwnServer) return context.skip('the server announces no limits')
      try {
        const seen = await trial.run(['/usr/bin/python3', '-c', script], { limits: { [limit]: amount } })
        assert.ok(seen.closed)
        assert.doesNotMatch(seen.stdout, /ESCAPE/)
        assert.notEqual(seen.exitCode, 0)
      } catch (error) {
        if (!(error instanceof CallError)) throw error
        assert.equal(error.code, -32602, error.message)
        assert.ok(error.message.includes(limit), error.message)
      }
      await trial.endsWell()
    })
  }
})
