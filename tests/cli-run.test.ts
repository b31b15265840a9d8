import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually, memoryOf, processesWith, startProxy, startServer } from '@waldo/testkit'
import { Person } from './cli-waldo.ts'

/** A number of seconds that no other test sleeps for, to find the sleeper by. */
let nextSleep = 7_310_000 + (process.pid % 1000)
const uniqueSleep = () => String(nextSleep++)

describe('waldo run', () => {
  test('keeps the streams apart and exits as the command does', async () => {
    using person = new Person()
    await using server = await startServer()
    const run = await person.waldo(['run', '-e', server.url, '--', 'sh', '-c', 'echo out; echo err >&2; exit 3'])
    assert.deepEqual(run, { code: 3, stdout: 'out\n', stderr: 'err\n' })
  })

  test('runs on this machine, in this directory, if nothing is configured', async () => {
    using person = new Person()
    const { code, stdout } = await person.waldo(['run', 'pwd'])
    assert.deepEqual([code, stdout.trim()], [0, realpathSync(person.directory)])
  })

  for (const { title, args, code, says } of [
    { title: 'no such command', args: ['--', 'no-such-command'], code: 127, says: /no-such-command/ },
    { title: 'a file that is no program', args: ['--', '/etc/passwd'], code: 126, says: /Permission denied/ },
    { title: 'no such directory', args: ['--cwd', '/no/such', 'true'], code: 125, says: /working directory/ },
    { title: 'a command that is killed', args: ['--', 'sh', '-c', 'kill -9 $$'], code: 137, says: /^$/ },
    { title: 'a command that takes too long', args: ['--timeout', '300ms', 'sleep', '60'], code: 124, says: /^$/ },
    {
      title: 'one that does not let itself be asked',
      args: ['--timeout', '300ms', '--', 'sh', '-c', 'trap "" TERM; while :; do sleep 1; done'],
      code: 124,
      says: /^$/,
    },
    { title: 'no command at all', args: [], code: 125, says: /waldo run -- uname/ },
    { title: 'an unknown option', args: ['--bogus', 'true'], code: 125, says: /`--bogus`\nwaldo run --help/ },
    { title: 'an unknown letter', args: ['-tz', 'true'], code: 125, says: /`-z`/ },
    { title: 'a variable without a value', args: ['--env', 'A', 'true'], code: 125, says: /NAME=VALUE/ },
    { title: 'a time that is none', args: ['--timeout', 'soon', 'true'], code: 125, says: /30s/ },
    { title: 'a sandbox that is none', args: ['--sandbox', 'some', 'true'], code: 125, says: /read-only or workspace/ },
    { title: 'a network without a sandbox', args: ['--network', 'true'], code: 125, says: /need --sandbox/ },
    {
      title: 'two networks',
      args: ['--sandbox', 'workspace', '--network', '--allow', 'example.com', 'true'],
      code: 125,
      says: /exclude each other/,
    },
    { title: 'an option without its value', args: ['-e'], code: 125, says: /--environment needs a value/ },
  ]) {
    test(`${title}: ${code}`, async () => {
      using person = new Person()
      const run = await person.waldo(['run', ...args])
      assert.equal(run.code, code, run.stderr)
      assert.match(run.stderr, says)
    })
  }

  test('in a sandbox it changes only what is here, and is told what it could not', async () => {
    using person = new Person()
    const script = 'echo kept > made; cat made; echo x > /etc/waldo-test; mkdir .codex; exit 3'
    const run = await person.waldo(['run', '--sandbox', 'workspace', '--', 'sh', '-c', script])
    assert.deepEqual([run.code, run.stdout], [3, 'kept\n'])
    assert.match(run.stderr, /waldo: the sandbox refused to write \/etc\/waldo-test \(read root\)\n/)
    assert.equal(existsSync('/etc/waldo-test') || existsSync(join(person.directory, '.codex')), false)
    assert.equal(readFileSync(join(person.directory, 'made'), 'utf8'), 'kept\n')
    const readOnly = await person.waldo(['run', '--sandbox', 'read-only', '--', 'touch', 'made'])
    assert.equal(readOnly.code, 1)
    assert.match(readOnly.stderr, /waldo: the sandbox refused to write .*\/made/)
    const allowed = ['--sandbox', 'workspace', '--allow', 'allowed.test']
    const blocked = await person.waldo(['run', ...allowed, '--', 'curl', '-sf', 'http://blocked.test/'])
    assert.equal(blocked.code, 22)
    assert.match(blocked.stderr, /waldo: the sandbox refused blocked\.test:80/)
  })

  test('an unknown environment: says which ones there are', async () => {
    using person = new Person()
    await person.waldo(['env', 'add', 'devbox', 'ws://127.0.0.1:1'])
    const { code, stderr } = await person.waldo(['run', '-e', 'devbix', 'true'])
    assert.deepEqual(
      [code, stderr.split('\n')[0]],
      [125, 'Error: there is no environment `devbix`; there are: local, devbox'],
    )
    assert.match((await person.waldo(['run', '-e', 'localhost:80', 'true'])).stderr, /ws:\/\/localhost:80/)
  })

  test('nobody listening: says what to do', async () => {
    using person = new Person()
    const socket = `unix://${person.path('no.sock')}`
    for (const url of ['ws://127.0.0.1:1', socket]) {
      const { code, stderr } = await person.waldo(['run', '-e', url, 'true'])
      assert.equal(code, 125)
      assert.ok(stderr.includes(`waldo serve --listen ${url}`), stderr)
    }
  })

  test('a token that is missing: says where to put it', async () => {
    using person = new Person()
    writeFileSync(person.path('token'), 'correct-horse')
    const args = ['--ws-auth', 'capability-token', '--ws-token-file', person.path('token')]
    await using server = await startServer({ args })
    assert.match((await person.waldo(['run', '-e', server.url, 'true'])).stderr, /--token-file FILE/)
    await person.waldo(['env', 'add', 'guarded', server.url, '--token-file', 'token'])
    assert.equal((await person.waldo(['run', '-e', 'guarded', 'echo', 'in'])).stdout, 'in\n')
  })

  test('variables and directories are those there', async () => {
    using person = new Person()
    await using server = await startServer()
    await person.waldo(['env', 'add', 'there', server.url, '--cwd', '/usr/share', '--default'])
    const script = 'echo "$A|$B"; pwd'
    const run = await person.waldo(['run', '--env', 'A=1 2', '--env=B=x=y', '--cwd', '../lib', 'sh', '-c', script])
    assert.equal(run.stdout, '1 2|x=y\n/usr/lib\n')
  })

  test('binary input arrives, and its end', async () => {
    using person = new Person()
    await using server = await startServer()
    const input = randomBytes(5_000_003)
    const child = person.spawn(['run', '-e', server.url, '--', 'cat'], new Blob([input]))
    assert.deepEqual(Buffer.from(await child.stdout.bytes()), input)
    assert.equal(await child.exited, 0)
  })

  test('input that nobody reads is no error', async () => {
    using person = new Person()
    const { code, stderr } = await person.waldo(
      ['run', '--', 'sh', '-c', 'exec <&-; sleep 0.2; exit 4'],
      randomBytes(3_000_000),
    )
    assert.deepEqual([code, stderr], [4, ''])
  })

  test('a reader that goes away ends the command', async () => {
    using person = new Person()
    await using server = await startServer()
    const mark = uniqueSleep()
    const script = `waldo run -e ${server.url} -- sh -c 'yes; sleep ${mark}' < /dev/null | head -1; echo \${PIPESTATUS[0]}`
    assert.deepEqual(await person.shell(script), { code: 0, stdout: 'y\n141\n', stderr: '' })
    await eventually(() => processesWith(mark).length === 0, 'its end')
  })

  test('a slow reader gets everything, and costs no memory meanwhile', async () => {
    using person = new Person()
    await using server = await startServer()
    const child = person.spawn(['run', '-e', server.url, '--', 'head', '-c', '200000000', '/dev/zero'])
    const reader = child.stdout.getReader()
    let length = (await reader.read()).value!.length
    await Bun.sleep(1000)
    const memory = memoryOf(child.pid)
    assert.ok(memory < 250, `${memory} MiB`)
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length
    assert.deepEqual([length, await child.exited], [200_000_000, 0])
  })

  test('output that was dropped is an error, not an end', async () => {
    using person = new Person()
    await using server = await startServer({ args: ['--log-quota', '1MiB'] })
    const script = `waldo run -e ${server.url} -- head -c 100000000 /dev/zero < /dev/null | (sleep 2; wc -c)
      echo \${PIPESTATUS[0]}`
    const { stdout, stderr } = await person.shell(script)
    const [received, code] = stdout.split('\n').map(Number)
    assert.ok(received! < 100_000_000)
    assert.equal(code, 125)
    assert.ok(stderr.includes(`${100_000_000 - received!} bytes of output are missing`), stderr)
  })

  test('--json tells what happens, an object a line', async () => {
    using person = new Person()
    const { code, stdout } = await person.waldo(['run', '--json', '--', 'sh', '-c', 'printf "\\377"; exit 2'])
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(events, [
      { type: 'output', seq: 1, stream: 'stdout', data: '/w==' },
      { type: 'exited', seq: 2, exitCode: 2, sandboxDenied: false },
      { type: 'closed', seq: 3 },
    ])
    assert.equal(code, 2)
  })

  test('serves through a command that talks on its standard input and output', async () => {
    using person = new Person()
    const server = [
      process.execPath,
      join(import.meta.dir, '../packages/cli/src/main.ts'),
      'serve',
      '--listen',
      'stdio',
    ]
    await person.waldo(['env', 'add', 'piped', '--', ...server])
    assert.equal((await person.waldo(['run', '-e', 'piped', '--', 'cat'], 'through')).stdout, 'through')
  })
})

describe('signals', () => {
  const started = async (child: ReturnType<Person['spawn']>) => {
    const reader = child.stdout.getReader()
    let text = ''
    const until = async (word: string) => {
      while (!text.includes(word)) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`waited in vain for ${word} after ${text}`)
        text += Buffer.from(value).toString()
      }
    }
    await until('started')
    return until
  }

  test('are passed on', async () => {
    using person = new Person()
    await using server = await startServer()
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ] as const) {
      const child = person.spawn(['run', '-e', server.url, '--', 'sh', '-c', 'echo started; exec sleep 60'])
      await started(child)
      child.kill(signal)
      assert.equal(await child.exited, code)
    }
  })

  test('can be handled by the command; a second Ctrl-C ends it and its children', async () => {
    using person = new Person()
    await using server = await startServer()
    const mark = uniqueSleep()
    const script = `trap "echo no" INT; echo started; sleep ${mark} & while :; do sleep 0.1; done`
    const child = person.spawn(['run', '-e', server.url, '--', 'sh', '-c', script])
    const until = await started(child)
    child.kill('SIGINT')
    await until('no')
    child.kill('SIGINT')
    assert.equal(await child.exited, 137)
    await eventually(() => processesWith(mark).length === 0, 'the end of its children')
  })

  test('what the command leaves running ends when we leave', async () => {
    using person = new Person()
    await using server = await startServer()
    const mark = uniqueSleep()
    const script = `(sleep ${mark} > /dev/null 2>&1 < /dev/null &)`
    assert.equal((await person.waldo(['run', '-e', server.url, '--', 'sh', '-c', script])).code, 0)
    await eventually(() => processesWith(mark).length === 0, 'its end')
  })
})

describe('a lost connection', () => {
  test('is taken up again; nothing is missing', async () => {
    using person = new Person()
    await using server = await startServer()
    await using proxy = await startProxy(server.url)
    const script = 'for n in 1 2 3 4 5 6; do echo line$n; sleep 0.2; done; exit 6'
    await using screen = person.terminal(`waldo run -e ${proxy.url} -- sh -c '${script}'`)
    await screen.shows('line2')
    proxy.cut()
    assert.equal(await screen.exited, 6)
    const lines = screen.text.split('\r\n')
    assert.deepEqual(
      lines.filter((line) => line.startsWith('line')),
      [1, 2, 3, 4, 5, 6].map((n) => `line${n}`),
    )
    assert.deepEqual(
      lines.filter((line) => line.startsWith('waldo:')),
      ['waldo: the connection was lost; trying to get back (Ctrl-C twice leaves)', 'waldo: connected again'],
    )
  })

  test('is silent where nobody looks', async () => {
    using person = new Person()
    await using server = await startServer()
    await using proxy = await startProxy(server.url)
    const child = person.spawn(['run', '-e', proxy.url, '--', 'sh', '-c', 'echo started; sleep 1; echo ended'])
    const reader = child.stdout.getReader()
    await reader.read()
    proxy.cut()
    assert.equal(Buffer.from((await reader.read()).value!).toString(), 'ended\n')
    assert.deepEqual([await child.exited, await child.stderr.text()], [0, ''])
  })

  test('to a server that was killed and started again: 125, and why', async () => {
    using person = new Person()
    const args = ['--listen', `unix://${person.path('waldo.sock')}`]
    await using first = await startServer({ args })
    const child = person.spawn(['run', '-e', first.url, '--', 'sh', '-c', 'echo started; sleep 60'])
    await child.stdout.getReader().read()
    first.kill('SIGKILL')
    await first.exited
    await using _ = await startServer({ args })
    assert.equal(await child.exited, 125)
    assert.match(await child.stderr.text(), /was lost.*could not be taken up again[\s\S]*what ran there has ended/)
  })

  test('and a SIGTERM, before or after: nobody waits any longer', async () => {
    using person = new Person()
    for (const order of ['before', 'after']) {
      await using server = await startServer()
      const script = 'trap "echo heard" TERM; echo started; while :; do sleep 0.1; done'
      const child = person.spawn(['run', '-e', server.url, '--', 'sh', '-c', script])
      const reader = child.stdout.getReader()
      await reader.read()
      if (order === 'before') {
        child.kill('SIGTERM')
        assert.equal(Buffer.from((await reader.read()).value!).toString(), 'heard\n')
      }
      server.kill('SIGKILL')
      await server.exited
      if (order === 'after') child.kill('SIGTERM')
      assert.equal(await child.exited, 143)
      assert.match(await child.stderr.text(), /may still be running/)
    }
  })

  test('for good: Ctrl-C twice leaves, and the terminal is as it was', async () => {
    using person = new Person()
    await using server = await startServer()
    const script = `waldo run -e ${server.url} -t -- sh -c 'echo started; sleep 60'; echo code $?; stty -a`
    await using screen = person.terminal(script)
    await screen.shows('started')
    server.kill('SIGKILL')
    await screen.shows('trying to get back')
    screen.type('\x03')
    await screen.shows('Ctrl-C again leaves')
    screen.type('\x03')
    await screen.shows('code 130')
    await screen.exited
    assert.match(screen.text, /the command may still be running/)
    assert.match(screen.text, /[^-]icanon/)
  })
})

describe('waldo run --tty', () => {
  test('is a terminal there as large as the one here, and every key goes there', async () => {
    using person = new Person()
    await using server = await startServer()
    await using screen = person.terminal(`waldo run -te ${server.url} -- sh; echo "code $?"; stty -a`)
    await screen.shows(/[$#] $/)
    screen.type('stty size; echo $TERM; tty\r')
    await screen.shows(/40 100\r\nxterm\r\n\/dev\/pts\/\d+\r\n/)
    screen.resize(70, 20)
    screen.type('sleep 60\r')
    await screen.shows('sleep 60\r\n')
    screen.type('\x03')
    await screen.shows(/\^C[^#$]*[#$] $/)
    screen.type('while [ "$(stty size)" != "20 70" ]; do sleep 0.1; done; echo has the si""ze\r')
    await screen.shows('has the size')
    screen.type('exit 9\r')
    await screen.shows('code 9')
    await screen.exited
    assert.match(screen.text, /[^-]icanon/)
  })

  test('takes its keys from a pipe, too', async () => {
    using person = new Person()
    await using server = await startServer()
    const { code, stdout } = await person.waldo(['run', '-t', '-e', server.url, '--', 'sh'], 'tty\nstty size\nexit 3')
    assert.match(stdout, /\/dev\/pts[\s\S]*24 80/)
    assert.equal(code, 3)
  })

  test('the terminal is as it was if there is nobody to connect to', async () => {
    using person = new Person()
    await using screen = person.terminal('waldo run -t -e ws://127.0.0.1:1 -- sh; echo "code $?"; stty -a')
    await screen.exited
    assert.match(screen.text, /code 125[\s\S]*[^-]icanon/)
  })

  test('without it the command has no terminal, and what is typed is not for it', async () => {
    using person = new Person()
    await using server = await startServer()
    const script = `waldo run -e ${server.url} -- sh -c 'test -t 0 || test -t 1 || cat; echo no terminal'; read x; echo "x=$x"`
    await using screen = person.terminal(script)
    await screen.shows('no terminal')
    screen.type('mine\r')
    await screen.shows('x=mine')
  })
})

describe('the command line', () => {
  test('every command explains itself', async () => {
    using person = new Person()
    for (const command of ['serve', 'run', 'cp', 'env']) {
      const { code, stdout } = await person.waldo([command, '--help'])
      assert.equal(code, 0)
      assert.match(stdout, new RegExp(`Usage: waldo ${command} `))
      for (const line of stdout.split('\n')) assert.ok(line.length <= 105, line)
    }
  })

  test('serving loads nothing that only the other commands need', async () => {
    const seen = new Set<string>()
    const visit = async (file: string) => {
      if (seen.has(file)) return
      seen.add(file)
      const imports = new Bun.Transpiler({ loader: 'ts' }).scanImports(await Bun.file(file).text())
      for (const { path, kind } of imports) {
        if (kind !== 'import-statement') continue
        assert.doesNotMatch(path, /^@waldo\/(sdk|client|environment)|^node:fs/, file)
        if (path.endsWith('.ts')) await visit(join(file, '..', path))
      }
    }
    await visit(join(import.meta.dir, '../packages/cli/src/main.ts'))
    assert.ok([...seen].some((file) => file.endsWith('serve.ts')))
  })
})
