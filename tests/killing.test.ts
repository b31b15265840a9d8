import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { childrenOf, eventually, processesWith, RawClient, startServer } from '@waldo/testkit'

const gone = (mark: string) => eventually(() => processesWith(mark).length === 0, `${mark} to end`)
const there = (mark: string, count: number) =>
  eventually(() => processesWith(mark).length >= count, `${count} of ${mark}`)

/** Its threads have children that leave the session as soon as they are born, after the first of the threads has ended. */
const FORKING_THREADS = `
import ctypes, os, threading, time
def work():
    while True:
        if os.fork() == 0:
            os.setsid()
            os.execv('/bin/sleep', ['sleep', '8880'])
        time.sleep(0.002)
for _ in range(3):
    threading.Thread(target=work).start()
os.write(1, b'up')
ctypes.CDLL(None).pthread_exit(None)
`

/** The process that ends everything when the server is killed. */
function helperOf(server: number): number {
  const helpers = processesWith('waldo-watchdog')
  return childrenOf(server).find((pid) => helpers.includes(pid))!
}

describe('terminate', () => {
  test('ends the whole tree, whatever groups and sessions it has spread to', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const script =
      'sleep 8881 & setsid sleep 8881 & bash -c "set -m; sleep 8881 & wait" & trap "" TERM INT HUP; sleep 8881'
    for (const tty of [false, true]) {
      const id = await client.start(['bash', '-c', script], { tty })
      await there('sleep 8881', 4)
      assert.deepEqual(await client.call('process/terminate', { processId: id }), { running: true })
      await client.untilClosed(id)
      assert.equal(client.observed(id).exitCode, 137)
      await gone('sleep 8881')
      assert.deepEqual(await client.call('process/terminate', { processId: id }), { running: false })
    }
    await eventually(() => childrenOf(server.pid).length === 1, 'no zombies: the helper is the only child')
  })

  test('ends who leaves the session at that very moment', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const script = 'echo up; while :; do setsid sleep 8882 & done'
    for (let round = 0; round < 20; round++) {
      const id = await client.start(['bash', '-c', script])
      await client.untilOutput(id, 'up')
      await Bun.sleep(round)
      await client.call('process/terminate', { processId: id })
      await client.untilClosed(id)
      await gone('sleep 8882')
    }
  })

  test('ends who has many threads, of which the first has ended', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    for (let round = 0; round < 10; round++) {
      const id = await client.start(['/usr/bin/python3', '-ISc', FORKING_THREADS])
      await client.untilOutput(id, 'up')
      await there('sleep 8880', 3)
      await client.call('process/terminate', { processId: id })
      await client.untilClosed(id)
      await gone('sleep 8880')
    }
  })

  test('ends the jobs of a shell that do not mind its end', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    // When the shell ends the kernel makes its jobs go on that were stopped.
    const job = "nohup bash -c 'for ((;;)); do setsid sleep 8879 & wait -n & sleep 0.02; done' >/dev/null 2>&1 &"
    for (let round = 0; round < 4; round++) {
      const id = await client.start(['bash', '--norc', '-i'], { tty: true })
      await client.write(id, `for i in 1 2 3 4 5 6 7 8; do ${job} done\n`)
      await there('sleep 8879', 300)
      await client.call('process/terminate', { processId: id })
      await client.untilClosed(id)
      await gone('sleep 8879')
    }
  })

  test('ends those below somebody who has just lost its parent', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const below = '(bash -c "setsid sleep 8877 & wait" &); sleep 0.2; echo up; sleep 8877'
    const deep = `set -m; (bash -c 'f() { if [ $1 = 0 ]; then exec sleep 8877; fi; (f $(($1-1)); :); }; f 10; :' &)`
    for (const script of [below, `${deep}; sleep 0.2; echo up; sleep 8877`]) {
      const id = await client.start(['bash', '-c', script])
      await client.untilOutput(id, 'up')
      await there('sleep 8877', 2)
      await client.call('process/terminate', { processId: id })
      await client.untilClosed(id)
      await gone('sleep 8877')
    }
  })

  test('finds everybody, even if there are no descriptors left', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const id = await client.start(['bash', '-c', 'for i in 1 2 3; do setsid sleep 8876 & done; echo up; wait'])
    await client.untilOutput(id, 'up')
    await there('sleep 8876', 3)
    const used = new Set(readdirSync(`/proc/${server.pid}/fd`).map(Number))
    let free = 0
    while (used.has(free)) free++
    Bun.spawnSync(['prlimit', `--nofile=${free}:`, '--pid', String(server.pid)])
    await assert.rejects(client.start(['true']), /Too many open files/)
    await client.call('process/terminate', { processId: id })
    await client.untilClosed(id)
    await gone('sleep 8876')
  })

  test('with a grace asks first, and kills what does not listen', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const polite = await client.start([
      'sh',
      '-c',
      'trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.05; done',
    ])
    await client.untilOutput(polite, 'up')
    await client.call('process/terminate', { processId: polite, graceMs: 10_000 })
    await client.untilClosed(polite)
    assert.deepEqual([client.observed(polite).stdout, client.observed(polite).exitCode], ['up\nbye\n', 3])
    const deaf = await client.start(['sh', '-c', 'trap "" TERM; echo up; while :; do sleep 0.05; done'])
    await client.untilOutput(deaf, 'up')
    await client.call('process/terminate', { processId: deaf, graceMs: 300 })
    await client.untilClosed(deaf)
    assert.equal(client.observed(deaf).exitCode, 137)
  })

  test('delivers what was written before the death', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const done = join(server.stateDir, 'done')
    const script = `head -c 60000 /dev/zero | tr "\\0" x; echo "-end"; touch ${done}; exec sleep 60`
    for (const tty of [false, true]) {
      const id = await client.start(['sh', '-c', script], { tty })
      await eventually(() => existsSync(done), 'the output to be written')
      await client.call('process/terminate', { processId: id })
      await client.untilClosed(id)
      const { stdout, pty } = client.observed(id)
      assert.match(`${stdout}${pty}`, /^x{60000}-end/)
      rmSync(done)
    }
  })

  test('does not wait for somebody who escaped with the output', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const id = await client.start(['sh', '-c', '(setsid sleep 8882 &) ; sleep 0.3; echo up; sleep 8882'])
    await client.untilOutput(id, 'up')
    await client.call('process/terminate', { processId: id })
    await client.untilClosed(id)
    assert.equal(client.observed(id).exitCode, 137)
  })

  test('after the exit touches nobody', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    const id = await client.start(['sh', '-c', 'sleep 8883 & exit 0'])
    await client.until(() => client.observed(id).exitCode === 0, 'the exit')
    assert.deepEqual(await client.call('process/terminate', { processId: id }), { running: false })
    await Bun.sleep(300)
    assert.equal(processesWith('sleep 8883').length, 1)
  })
})

describe('orphans', () => {
  test('are adopted, reaped when they end, and ended with the server', async () => {
    await using server = await startServer()
    await using client = await RawClient.connect(server.url)
    await client.run('(setsid sleep 8884 >/dev/null 2>&1 &); (sleep 0.2 >/dev/null 2>&1 &)')
    await eventually(
      () => childrenOf(server.pid).length === 2,
      'the short one to be reaped: the helper and the long one',
    )
    await client.run('(setsid sh -c "sleep 8884 & wait" >/dev/null 2>&1 &)')
    await there('sleep 8884', 3)
    server.kill('SIGTERM')
    assert.equal(await server.exited, 0)
    assert.equal(processesWith('sleep 8884').length, 0)
  })
})

describe('the server', () => {
  test('killed with SIGKILL takes its processes with it within seconds', async () => {
    const server = await startServer()
    await using client = await RawClient.connect(server.url)
    await client.start(['sh', '-c', 'trap "" TERM; sleep 8885 & setsid sleep 8885 & sleep 8885'])
    await client.start(['sleep', '8885'], { tty: true })
    await client.run('sleep 8885 >/dev/null 2>&1 &')
    await there('sleep 8885', 5)
    const helper = helperOf(server.pid)
    // One that has only just been started is no exception.
    await client.start(['sleep', '8885'])
    server.kill('SIGKILL')
    await gone('sleep 8885')
    await eventually(() => !processesWith('waldo-watchdog').includes(helper), 'the helper to end')
    await server[Symbol.asyncDispose]()
  })

  test('brings a new helper if somebody kills the old one', async () => {
    const server = await startServer()
    await using client = await RawClient.connect(server.url)
    await client.start(['sleep', '8886'])
    process.kill(helperOf(server.pid), 'SIGKILL')
    await Bun.sleep(200)
    await client.start(['sleep', '8886'])
    server.kill('SIGKILL')
    await gone('sleep 8886')
    await server[Symbol.asyncDispose]()
  })

  test('stopped politely tells clients, asks processes to end, and exits with 0', async () => {
    const server = await startServer()
    const client = await RawClient.connect(server.url)
    await client.start(['sh', '-c', 'trap "sleep 0.3; exit 0" TERM; while :; do sleep 0.05; done'])
    await client.start(['sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done; # 8887'])
    await there('# 8887', 1)
    server.kill('SIGTERM')
    assert.equal((await client.untilDisconnected()).code, 1001)
    await assert.rejects(RawClient.open(server.url))
    assert.equal(await server.exited, 0)
    assert.equal(processesWith('# 8887').length, 0)
    await server[Symbol.asyncDispose]()
  })

  test('a second signal ends it at once', async () => {
    const server = await startServer()
    await using client = await RawClient.connect(server.url)
    await client.start(['sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done; # 8888'])
    await there('# 8888', 1)
    server.kill('SIGINT')
    await Bun.sleep(200)
    const before = performance.now()
    server.kill('SIGINT')
    assert.equal(await server.exited, 130)
    assert.ok(performance.now() - before < 1000)
    await gone('# 8888')
    await server[Symbol.asyncDispose]()
  })
})
