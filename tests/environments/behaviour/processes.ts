import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Environment, Process } from '@waldo/environment'
import { isAlive } from '@waldo/testkit'
import { all, fails, givesUp, said, until } from '../collect.ts'
import { scratch } from '../scratch.ts'
import { EXECUTOR_VARIABLES, type Setting, unrepeated } from './setting.ts'

export const sh = (env: Environment, script: string, options = {}) => env.processes.start(['sh', '-c', script], options)

/** Reads until the text has been said. */
async function untilSaid(process: Process, text: string): Promise<void> {
  let heard = ''
  for await (const event of process.events()) {
    if (event.type === 'output') heard += Buffer.from(event.data).toString()
    if (heard.includes(text)) return
  }
  assert.fail(`it ended without saying ${text}: ${heard}`)
}

/** Says `ready`, and runs until it is told otherwise. */
const waitingFor = (traps: string) => `${traps}; echo ready; while :; do sleep 0.05; done`

export function processBehaviour(setting: Setting): void {
  const { open } = setting

  test('a command that fails is a result with its exit code', async () => {
    await using env = open()
    for (const code of [0, 1, 7, 255]) {
      const result = await (await sh(env, `echo out; exit ${code}`)).wait()
      const bytes = { output: 4, dropped: 0 }
      assert.deepEqual(result, { state: 'exited', exitCode: code, signal: null, sandboxDenied: false, bytes })
    }
  })

  test('a death by signal is told by its name and by 128 plus its number', async () => {
    await using env = open()
    for (const [name, code] of [
      ['TERM', 143],
      ['KILL', 137],
      ['SEGV', 139],
    ] as const) {
      const { exitCode, signal } = await (await sh(env, `kill -${name} $$`)).wait()
      assert.deepEqual({ exitCode, signal }, { exitCode: code, signal: `SIG${name}` })
    }
  })

  test('program, arguments, directory and name arrive as they are', async () => {
    await using env = open()
    using dir = scratch()
    const odd = ['a b', '', '"', "'", '$HOME', '*', 'ä\n€']
    const echo = await env.processes.start(['sh', '-c', 'pwd; printf "%s|" "$@"', 'x', ...odd], { cwd: dir.path })
    assert.equal(await echo.text(), `${dir.path}\n${odd.join('|')}|`)
    const named = await env.processes.start(['sh', '-c', 'echo $0'], { arg0: 'other' })
    assert.equal(await named.text(), 'other\n')
  })

  test('a missing program and a missing directory are SPAWN_FAILED', async () => {
    await using env = open()
    const program = await fails(env.processes.start(['/no/such/program']), 'SPAWN_FAILED')
    assert.match(program.message, /no\/such\/program/)
    const cwd = await fails(env.processes.start(['true'], { cwd: '/no/such/dir' }), 'SPAWN_FAILED')
    assert.match(cwd.message, /no\/such\/dir/)
    await fails(env.processes.start([]), 'REFUSED')
    await fails(env.processes.start(['true'], { cwd: 'not/absolute' }), 'FILE_INVALID')
    assert.equal(await (await sh(env, 'echo fine')).text(), 'fine\n')
  })

  test('an id that is taken is refused', async () => {
    await using env = open()
    await using first = await sh(env, 'sleep 100', { id: 'mine' })
    assert.equal(first.id, 'mine')
    await fails(sh(env, 'true', { id: 'mine' }), 'REFUSED')
  })

  test('a process has the variables of its executor without likely secrets, and what is laid over them', async () => {
    await using env = open()
    const names = [...Object.keys(EXECUTOR_VARIABLES), 'MINE'].map((name) => `\${${name}-unset}`).join(' ')
    const usual = await sh(env, `echo "${names}"`, { env: { MINE: 'm=1' } })
    assert.equal(await usual.text(), 'plain unset m=1\n')
    const over = await sh(env, `echo "${names}"`, { env: { WALDO_TEST_TOKEN: 'given' } })
    assert.equal(await over.text(), 'plain given unset\n')
  })

  test('with the policy `none` the variables are exactly those that are given', async () => {
    await using env = open()
    const envPolicy = { inherit: 'none', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] } as const
    const options = {
      env: { PATH: '/usr/bin:/bin', B: '2' },
      envPolicy: { ...envPolicy, exclude: [], includeOnly: [] },
    }
    const exact = await env.processes.start(['/usr/bin/env'], options)
    assert.deepEqual((await exact.text()).trim().split('\n').sort(), ['B=2', 'PATH=/usr/bin:/bin'])
  })

  test('what is written arrives once and in order, also while the wire is cut', async () => {
    await using env = open()
    await using cat = await env.processes.start(['cat'], { stdin: true })
    const lines = Array.from({ length: 200 }, (_, index) => `line ${index}\n`)
    const writes: Promise<void>[] = []
    for (const line of lines) {
      writes.push(cat.write(line))
      // Slow enough to be cut several times on the way.
      if (setting.cuts) await new Promise((resolve) => setTimeout(resolve, 8))
    }
    await Promise.all(writes)
    await cat.closeStdin()
    assert.equal(await cat.text(), lines.join(''))
    assert.equal((await cat.wait()).exitCode, 0)
  })

  test('bytes that are no text go in and come out unchanged', async () => {
    await using env = open()
    await using cat = await env.processes.start(['cat'], { stdin: true })
    const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, index) => (index * 7 + (index >> 8)) & 0xff))
    const read = new Response(cat.output()).arrayBuffer()
    await cat.write(bytes)
    await cat.closeStdin()
    assert.ok(Buffer.from(await read).equals(bytes))
  })

  test('writing to a process without input, or after it was closed, is STDIN_CLOSED', async () => {
    await using env = open()
    await using without = await sh(env, 'sleep 100')
    await fails(without.write('x'), 'STDIN_CLOSED')
    await using cat = await env.processes.start(['cat'], { stdin: true })
    await cat.closeStdin()
    await cat.wait()
    await fails(cat.write('x'), 'STDIN_CLOSED')
    await cat.closeStdin()
  })

  test('a terminal has the size it was given, and gets another', async () => {
    await using env = open()
    const script = waitingFor('trap "stty size" WINCH; stty size')
    await using shell = await sh(env, script, { tty: { cols: 91, rows: 17 } })
    await untilSaid(shell, '17 91')
    await untilSaid(shell, 'ready')
    await shell.resize({ cols: 120, rows: 40 })
    await untilSaid(shell, '40 120')
    const usual = await sh(env, 'stty size; test -t 0 -a -t 1 -a -t 2 && echo terminal', { tty: true })
    const events = await all(usual.events())
    assert.equal(said(events, 'pty'), '24 80\r\nterminal\r\n')
  })

  test('resizing what is no terminal, and closing the input of one, are refused', async () => {
    await using env = open()
    await using pipes = await sh(env, 'sleep 100')
    await fails(pipes.resize({ cols: 10, rows: 10 }), 'REFUSED')
    await using terminal = await env.processes.start(['cat'], { tty: true })
    await fails(terminal.closeStdin(), 'REFUSED')
    await terminal.write('\x04')
    assert.equal((await terminal.wait()).exitCode, 0)
  })

  test('an interrupt reaches a process on pipes and one on a terminal', async () => {
    await using env = open()
    for (const tty of [false, true]) {
      await using waiting = await sh(env, waitingFor('trap "echo caught; exit 5" INT'), { tty })
      await untilSaid(waiting, 'ready')
      // Signals are never sent twice.
      await unrepeated(setting, () => waiting.signal('interrupt'))
      assert.equal((await waiting.wait()).exitCode, 5)
      assert.match(await waiting.text(), /caught/)
    }
    await using typed = await sh(env, waitingFor('trap "exit 6" INT'), { tty: true })
    await untilSaid(typed, 'ready')
    await typed.write('\x03')
    assert.equal((await typed.wait()).exitCode, 6)
  })

  test('any signal can be sent by its name; one that does not exist is refused', async () => {
    await using env = open()
    await using waiting = await sh(env, waitingFor('trap "exit 9" USR1'))
    await untilSaid(waiting, 'ready')
    await fails(
      unrepeated(setting, () => waiting.signal('SIGNONSENSE')),
      'REFUSED',
    )
    await unrepeated(setting, () => waiting.signal('SIGUSR1'))
    assert.equal((await waiting.wait()).exitCode, 9)
    await unrepeated(setting, () => waiting.signal('SIGUSR1'))
  })

  test('terminate ends a process that ignores everything else, and all that it has started', async () => {
    await using env = open()
    const stubborn = await sh(env, 'trap "" TERM INT; sleep 1000 & echo "child $!"; sleep 1000')
    await untilSaid(stubborn, 'child')
    const child = Number(/child (\d+)/.exec(await headOf(stubborn))?.[1])
    await stubborn.terminate()
    const { exitCode, signal } = await stubborn.wait()
    assert.deepEqual({ exitCode, signal }, { exitCode: 137, signal: 'SIGKILL' })
    await until(() => !isAlive(child))
    await stubborn.terminate()
  })

  test('terminate with a grace lets a process clean up', async () => {
    await using env = open()
    await using polite = await sh(env, waitingFor('trap "echo bye; exit 7" TERM'))
    await untilSaid(polite, 'ready')
    await polite.terminate({ graceMs: 30_000 })
    assert.equal((await polite.wait()).exitCode, 7)
    assert.match(await polite.text(), /bye/)
  })

  test('giving up a wait does not end the process; leaving its scope does', async () => {
    await using env = open()
    let pid = 0
    {
      await using sleeper = await sh(env, 'sleep 1000')
      await givesUp((signal) => sleeper.wait({ signal }))
      const [own] = await env.processes.list()
      assert.equal(own?.state, 'running')
      pid = own!.pid
      assert.ok(isAlive(pid))
    }
    await until(() => !isAlive(pid))
  })

  test('list tells of what runs and of what has ended, in this environment alone', async () => {
    await using env = open()
    await using other = open()
    await using theirs = await sh(other, 'sleep 1000')
    await using running = await sh(env, 'sleep 1000')
    const ended = await sh(env, 'echo hello; exit 4')
    await ended.wait()
    const list = await env.processes.list()
    const seen = list.map(({ processId, argv, state, exit, bytes }) => {
      return { processId, argv, state, code: exit?.code, output: bytes.output }
    })
    assert.deepEqual(seen, [
      { processId: running.id, argv: [...running.argv], state: 'running', code: undefined, output: 0 },
      { processId: ended.id, argv: [...ended.argv], state: 'closed', code: 4, output: 6 },
    ])
    assert.ok(!list.some(({ processId }) => processId === theirs.id))
  })

  test('every call about a process can be given up', async () => {
    await using env = open()
    await env.ready()
    await using cat = await env.processes.start(['cat'], { stdin: true, tty: true })
    await givesUp((signal) => sh(env, 'sleep 1', { signal }))
    await givesUp((signal) => env.processes.list({ signal }))
    await givesUp((signal) => cat.write('x', { signal }))
    await givesUp((signal) => cat.resize({ cols: 10, rows: 10 }, { signal }))
    await givesUp((signal) => cat.signal('SIGWINCH', { signal }))
    await givesUp((signal) => cat.closeStdin({ signal }))
    await givesUp((signal) => cat.text({ signal }))
    await givesUp((signal) => all(cat.events({ signal })))
    await givesUp((signal) => cat.output({ signal }).getReader().read())
    await givesUp((signal) => env.info({ signal }).then(() => cat.wait({ signal })))
    assert.ok((await env.processes.list()).some(({ processId, state }) => processId === cat.id && state === 'running'))
  })
}

async function headOf(process: Process): Promise<string> {
  const [first] = await process
    .events()
    [Symbol.asyncIterator]()
    .next()
    .then(({ value }) => [value])
  return first?.type === 'output' ? Buffer.from(first.data).toString() : ''
}
