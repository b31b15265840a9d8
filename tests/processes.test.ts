import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { childrenOf, eventually, RawClient, startServer, type TestServer } from '@waldo/testkit'

let server: TestServer
let client: RawClient
before(async () => {
  server = await startServer({ env: { WALDO_TEST: 'inherited', NODE_REPL_AUTH_TOKEN: 'secret' } })
  client = await RawClient.connect(server.url)
})
after(async () => {
  await client[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

const contiguous = (seqs: number[]) =>
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => index + 1),
  )

describe('pipes', () => {
  test('carry stdout and stderr apart, then exited, then closed, without a gap', async () => {
    const seen = await client.run('echo out; echo err >&2; exit 7')
    assert.deepEqual([seen.stdout, seen.stderr, seen.exitCode], ['out\n', 'err\n', 7])
    contiguous(seen.seqs)
  })

  test('are real pipes: they can be opened again by name', async () => {
    const seen = await client.run('echo a > /dev/stderr; echo b > /dev/stdout; cat /dev/stdin', {
      pipeStdin: false,
    })
    assert.deepEqual([seen.stdout, seen.stderr, seen.exitCode], ['b\n', 'a\n', 0])
  })

  test('a process that ends at once has said everything', async () => {
    const runs = await Promise.all(Array.from({ length: 40 }, () => client.run('head -c 200000 /dev/zero; exit 3')))
    for (const seen of runs) {
      assert.deepEqual([seen.stdout.length, seen.exitCode], [200_000, 3])
      contiguous(seen.seqs)
    }
  })

  test('exited does not wait for children that hold the output; closed does', async () => {
    const id = await client.start(['/bin/sh', '-c', 'echo a; (sleep 0.4; echo late) & exit 5'])
    await client.until(() => client.observed(id).exitCode !== undefined, 'the exit')
    assert.deepEqual([client.observed(id).exitCode, client.observed(id).closed], [5, false])
    assert.equal(
      (await client.call('process/list')).processes.find((p: { processId: string }) => p.processId === id).state,
      'exited',
    )
    await client.untilClosed(id)
    assert.equal(client.observed(id).stdout, 'a\nlate\n')
    contiguous(client.observed(id).seqs)
  })
})

describe('a child', () => {
  test('finds nothing of ours: descriptors, signals, limits, umask, group', async () => {
    const script =
      'ls /proc/self/fd | tr "\\n" " "; grep -E "^Sig(Blk|Ign)" /proc/self/status; umask; ulimit -Sn; ps -o pgid=,sid= -p $$; echo $$'
    const { stdout } = await client.run(script)
    const [descriptors, blocked, ignored, umask, limit, ids, pid] = stdout.replace(/^([\d ]+)/, '$1\n').split('\n')
    // 3 is the directory that ls itself reads.
    assert.equal(descriptors!.trim(), '0 1 2 3')
    for (const mask of [blocked, ignored]) assert.match(mask!, /0{16}$/)
    assert.equal(umask, '0022')
    assert.equal(limit, String(parentSoftLimit()))
    assert.deepEqual(ids!.trim().split(/\s+/), [pid, pid])
  })

  test('has the environment it was given and nothing else', async () => {
    const id = await client.start(['env'], {
      env: { B: '2', A: '1', __proto__: undefined },
      metadata: { toolCallId: 'call' },
    })
    await client.untilClosed(id)
    assert.equal(client.observed(id).stdout, 'A=1\nB=2\nCODEX_TOOL_CALL_ID=call\n')
  })

  test('never gets the credentials of the executor', async () => {
    const envPolicy = {
      inherit: 'all',
      ignoreDefaultExcludes: true,
      exclude: [],
      set: { node_repl_auth_token: 'x' },
      includeOnly: [],
    }
    const seen = await client.run('env', { envPolicy, env: { PATH: '/usr/bin:/bin', OPENAI_IDENTITY_TOKEN_FILE: 'x' } })
    assert.match(seen.stdout, /WALDO_TEST=inherited/)
    assert.doesNotMatch(seen.stdout, /NODE_REPL|node_repl|OPENAI/)
  })

  test('gets nothing from .env files of the directory the server was started in', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'waldo-env-'))
    writeFileSync(join(directory, '.env'), 'WALDO_DOTENV=leaked\n')
    await using other = await startServer({ cwd: directory })
    await using its = await RawClient.connect(other.url)
    const envPolicy = { inherit: 'all', ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] }
    assert.doesNotMatch((await its.run('env', { envPolicy })).stdout, /leaked/)
    rmSync(directory, { recursive: true })
  })

  test('an exclude pattern cannot take for ever', async () => {
    const envPolicy = {
      inherit: 'all',
      ignoreDefaultExcludes: true,
      exclude: [`${'*a'.repeat(200)}b`],
      set: {},
      includeOnly: [],
    }
    assert.equal((await client.run('exit 0', { envPolicy, env: { ['a'.repeat(5000)]: '' } })).exitCode, 0)
  })

  test('is called what arg0 says', async () => {
    const id = await client.start(['/bin/sh', '-c', 'echo "$0"'], { arg0: 'renamed' })
    await client.untilClosed(id)
    assert.equal(client.observed(id).stdout, 'renamed\n')
  })

  test('starts in its directory, also in one whose name is not UTF-8', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'waldo-cwd-'))
    mkdirSync(Buffer.concat([Buffer.from(`${parent}/`), Buffer.of(0xff, 0x20)]))
    const seen = await client.run('pwd', { cwd: `file://${parent}/%FF%20` })
    assert.equal(seen.stdout, `${parent}/\xff \n`)
    rmSync(parent, { recursive: true })
  })
})

describe('a start that fails', () => {
  test('says what is missing and leaves no process behind', async () => {
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ argv: ['/no/such/program'] }, /No such file or directory.*program "\/no\/such\/program"/],
      [{ argv: ['no-such-program'] }, /No such file or directory.*program "no-such-program"/],
      [{ argv: ['/etc/passwd'] }, /Permission denied.*program/],
      [{ argv: ['/tmp'] }, /Permission denied.*program/],
      [{ argv: [''] }, /empty/],
      [{ argv: ['echo', 'a\0b'] }, /nul byte/],
      [{ argv: ['echo'], env: { A: '\0' } }, /nul byte/],
      [
        { argv: ['true'], cwd: 'file:///no/such/dir' },
        /No such file or directory.*working directory "\/no\/such\/dir"/,
      ],
      [{ argv: ['true'], cwd: 'file:///etc/passwd' }, /Not a directory.*working directory/],
    ]
    for (const tty of [false, true]) {
      for (const [params, message] of cases) {
        const error = await client.failure('process/start', {
          processId: 'bad',
          cwd: 'file:///tmp',
          env: {},
          tty,
          ...params,
        })
        assert.equal(error.code, -32603)
        assert.match(error.message, message)
      }
    }
    assert.match((await client.failure('process/read', { processId: 'bad' })).message, /unknown process id bad/)
  })

  test('an id is taken while its process runs and for a while after', async () => {
    const id = await client.start(['sleep', '0.1'])
    const again = { processId: id, argv: ['true'], cwd: 'file:///', env: {}, tty: false }
    assert.deepEqual(await client.failure('process/start', again), {
      code: -32600,
      message: `process ${id} already exists`,
    })
    await client.untilClosed(id)
    assert.equal((await client.failure('process/start', again)).code, -32600)
  })
})

describe('stdin', () => {
  test('pipelined writes arrive in order, and closing comes after them', async () => {
    const id = await client.start(['cat'], { pipeStdin: true })
    const lines = Array.from({ length: 500 }, (_, i) => `line ${i}\n`)
    const writes = lines.map((line) => client.write(id, line))
    const closing = client.call('process/closeStdin', { processId: id })
    for (const { status } of await Promise.all(writes)) assert.equal(status, 'accepted')
    assert.deepEqual(await closing, { status: 'accepted' })
    await client.untilClosed(id)
    assert.deepEqual([client.observed(id).stdout, client.observed(id).exitCode], [lines.join(''), 0])
  })

  test('a write is done once, however often it is sent', async () => {
    const id = await client.start(['cat'], { pipeStdin: true })
    for (let i = 0; i < 3; i++) assert.deepEqual(await client.write(id, 'once\n', 'same'), { status: 'accepted' })
    await client.call('process/closeStdin', { processId: id })
    await client.untilClosed(id)
    assert.equal(client.observed(id).stdout, 'once\n')
  })

  test('4,096 write ids are remembered, the oldest are forgotten', async () => {
    const id = await client.start(['cat'], { pipeStdin: true })
    await client.write(id, 'first\n', 'w-first')
    for (let i = 0; i < 4096; i++) void client.write(id, '', `w${i}`)
    await client.write(id, 'again\n', 'w-first')
    await client.write(id, 'not again\n', 'w4095')
    await client.call('process/closeStdin', { processId: id })
    await client.untilClosed(id)
    assert.equal(client.observed(id).stdout, 'first\nagain\n')
  })

  test('a child that does not read makes writers wait, then refuses; terminate is not held up', async () => {
    const id = await client.start(['sleep', '60'], { pipeStdin: true })
    const MiB = new Uint8Array(1024 * 1024)
    // The pipe and the buffer take the first two; the next sixteen wait.
    const statuses: string[] = []
    const settled = Array.from({ length: 18 }, () =>
      client.write(id, MiB).then(
        ({ status }) => statuses.push(status),
        (error) => statuses.push(error.message),
      ),
    )
    const overflow = client.write(id, MiB)
    await assert.rejects(overflow, /does not read its input/)
    assert.ok(statuses.filter((status) => status === 'accepted').length >= 1)
    assert.ok(statuses.length < 18)
    assert.deepEqual(await client.call('process/terminate', { processId: id }), { running: true })
    await Promise.all(settled)
    assert.ok(statuses.includes('stdinClosed'))
    await client.untilClosed(id)
  })

  test('says when it is closed', async () => {
    const none = await client.start(['sleep', '0.2'])
    assert.deepEqual(await client.write(none, 'x'), { status: 'stdinClosed' })
    assert.deepEqual(await client.call('process/closeStdin', { processId: none }), { status: 'stdinClosed' })
    assert.deepEqual(await client.write('nobody', 'x'), { status: 'unknownProcess' })
    assert.deepEqual(await client.call('process/closeStdin', { processId: 'nobody' }), { status: 'unknownProcess' })
    const ended = await client.start(['true'], { pipeStdin: true })
    await client.untilClosed(ended)
    assert.deepEqual(await client.write(ended, 'x'), { status: 'stdinClosed' })
    const killed = await client.start(['cat'], { pipeStdin: true })
    await client.call('process/terminate', { processId: killed })
    await client.untilClosed(killed)
    assert.deepEqual(await client.write(killed, 'x'), { status: 'stdinClosed' })
    const deaf = await client.start(['sh', '-c', 'exec <&-; sleep 5'], { pipeStdin: true })
    await eventuallyStdinClosed(deaf)
    await client.call('process/terminate', { processId: deaf })
    assert.equal((await client.failure('process/write', { processId: deaf, chunk: '', writeId: '' })).code, -32602)
  })

  /** A child may close its input without ending. */
  async function eventuallyStdinClosed(id: string): Promise<void> {
    for (let i = 0; i < 500; i++) {
      if ((await client.write(id, 'x\n')).status === 'stdinClosed') return
      await Bun.sleep(10)
    }
    assert.fail('writes are still accepted')
  }
})

describe('terminals', () => {
  test('are terminals, of the size that was asked for', async () => {
    const seen = await client.run('stty size; test -t 0 && test -t 2 && echo yes; tty', { tty: true })
    assert.match(seen.pty, /^24 80\r\nyes\r\n\/dev\/pts\/\d+\r\n$/)
    assert.match((await client.run('stty size', { tty: true, size: { cols: 132, rows: 50 } })).pty, /^50 132\r\n$/)
  })

  test('can be resized, and the process is told', async () => {
    const id = await client.start(
      ['/bin/bash', '-c', 'trap "stty size" WINCH; echo ready; while :; do sleep 0.05; done'],
      { tty: true },
    )
    await client.untilOutput(id, 'ready')
    assert.deepEqual(await client.call('process/resize', { processId: id, cols: 100, rows: 30 }), {})
    await client.untilOutput(id, '30 100')
    await client.call('process/terminate', { processId: id })
    await client.untilClosed(id)
    const piped = await client.start(['sleep', '0.1'])
    assert.match(
      (await client.failure('process/resize', { processId: piped, cols: 1, rows: 1 })).message,
      /no terminal/,
    )
    assert.equal((await client.failure('process/resize', { processId: 'nobody', cols: 1, rows: 1 })).code, -32600)
  })

  test('echo what is typed, and 0x04 ends the input', async () => {
    const id = await client.start(['cat'], { tty: true })
    await client.write(id, 'hello\n')
    await client.untilOutput(id, 'hello\r\nhello\r\n')
    assert.match((await client.failure('process/closeStdin', { processId: id })).message, /0x04/)
    await client.write(id, '\x04')
    await client.untilClosed(id)
    assert.equal(client.observed(id).exitCode, 0)
  })

  test('a job in the foreground gets the interrupt, the shell lives on', async () => {
    const id = await client.start(['/bin/bash', '--norc', '-i'], {
      tty: true,
      env: { PATH: '/usr/bin:/bin', PS1: '$ ' },
    })
    await client.untilOutput(id, '$ ')
    await client.write(id, 'sleep 60; echo "got $?"\n')
    await Bun.sleep(300)
    await client.call('process/signal', { processId: id, signal: 'interrupt' })
    await client.write(id, 'echo "last $?"\n')
    await client.untilOutput(id, 'last 130')
    await client.write(id, 'exit 9\n')
    await client.untilClosed(id)
    assert.equal(client.observed(id).exitCode, 9)
  })

  test('a death by signal is 128 and its number', async () => {
    for (const [how, code] of [
      ['interrupt', 130],
      ['SIGTERM', 143],
      ['SIGKILL', 137],
    ] as const) {
      const id = await client.start(['sleep', '60'], { tty: true })
      await Bun.sleep(50)
      await client.call('process/signal', { processId: id, signal: how })
      await client.untilClosed(id)
      assert.equal(client.observed(id).exitCode, code)
    }
  })

  test('a process that ends at once has said everything', async () => {
    const runs = await Promise.all(
      Array.from({ length: 40 }, () => client.run('head -c 60000 /dev/zero | tr "\\0" x; exit 3', { tty: true })),
    )
    for (const seen of runs) assert.deepEqual([seen.pty.length, seen.exitCode], [60_000, 3])
  })

  test('a child that outlives the shell keeps the terminal open until it ends', async () => {
    const seen = await client.run('trap "" HUP; (sleep 0.3; echo late) & echo early; exit 2', { tty: true })
    assert.deepEqual([seen.pty, seen.exitCode], ['early\r\nlate\r\n', 2])
  })
})

describe('process/list and process/signal', () => {
  test('list tells what there is to know', async () => {
    await using other = await RawClient.connect(server.url)
    const id = await other.start(['cat'], { pipeStdin: true })
    await other.write(id, 'four')
    await other.untilOutput(id, 'four')
    const [running] = (await other.call('process/list')).processes
    assert.deepEqual(
      { ...running, pid: undefined, startedAtMs: undefined },
      {
        processId: id,
        argv: ['cat'],
        cwd: 'file:///tmp',
        pid: undefined,
        startedAtMs: undefined,
        state: 'running',
        tty: false,
        bytes: { output: 4, dropped: 0, stdin: 4 },
        exit: null,
      },
    )
    assert.ok(running.pid > 1 && Math.abs(Date.now() - running.startedAtMs) < 60_000)
    await other.call('process/terminate', { processId: id })
    await other.untilClosed(id)
    const [ended] = (await other.call('process/list')).processes
    assert.equal(ended.state, 'closed')
    assert.deepEqual({ ...ended.exit, atMs: 0 }, { code: 137, signal: 'SIGKILL', endedBy: 'terminate', atMs: 0 })
  })

  test('any signal can be sent by name, and unknown ones are refused', async () => {
    const id = await client.start(['/bin/sh', '-c', 'trap "echo usr1" USR1; echo ready; while :; do sleep 0.05; done'])
    await client.untilOutput(id, 'ready')
    assert.deepEqual(await client.call('process/signal', { processId: id, signal: 'SIGUSR1' }), {})
    await client.untilOutput(id, 'usr1')
    assert.equal((await client.failure('process/signal', { processId: id, signal: 'SIGNONSENSE' })).code, -32602)
    assert.deepEqual(await client.call('process/signal', { processId: 'nobody', signal: 'interrupt' }), {})
    await client.call('process/terminate', { processId: id })
    await client.untilClosed(id)
  })
})

function parentSoftLimit(): number {
  // The server is our child: its own children get what we have, not what Bun has raised it to for the server.
  const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))!
  return Number(soft)
}

test('of all these processes nothing is left', async () => {
  await eventually(() => childrenOf(server.pid).length === 1, 'the helper to be the only child')
})
