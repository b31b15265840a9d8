import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { describe, test } from 'node:test'
import { eventually, startServer, type TestServer } from '@waldo/testkit'
import { Person } from './cli-waldo.ts'

/** Somebody who knows the server as `there`, where commands start in a directory of that name. */
async function personWith(server: TestServer): Promise<Person> {
  const person = new Person()
  mkdirSync(person.path('there'))
  await person.waldo(['env', 'add', 'there', server.url, '--cwd', person.path('there')])
  return person
}

/** Not UTF-8. */
const ODD_NAME = Buffer.from([0x6f, 0x64, 0x64, 0xff, 0xfe])
const below = (directory: string, name: Buffer) => Buffer.concat([Buffer.from(`${directory}/`), name])

describe('waldo cp', () => {
  test('copies a large file there, back, and from one environment to another', async () => {
    await using server = await startServer()
    await using other = await startServer()
    using person = await personWith(server)
    const content = randomBytes(20_000_001)
    writeFileSync(person.path('a'), content)
    for (const args of [
      ['a', 'there:b'],
      ['there:b', 'c'],
      ['there:b', `[${other.url}]:${person.path('d')}`],
      ['./a', `local:${person.path('e')}`],
    ]) {
      assert.deepEqual(await person.waldo(['cp', ...args]), { code: 0, stdout: '', stderr: '' })
    }
    for (const name of ['there/b', 'c', 'd', 'e']) assert.ok(readFileSync(person.path(name)).equals(content), name)
  })

  test('- is standard input or output', async () => {
    await using server = await startServer()
    using person = await personWith(server)
    const content = randomBytes(3_000_000)
    assert.equal((await person.waldo(['cp', '-', 'there:x'], content)).code, 0)
    assert.ok(readFileSync(person.path('there/x')).equals(content))
    const child = person.spawn(['cp', 'there:x', '-'])
    assert.ok(Buffer.from(await child.stdout.bytes()).equals(content))
    assert.deepEqual(await person.shell(`waldo cp there:x - | head -c 1 | wc -c; echo \${PIPESTATUS[0]}`), {
      code: 0,
      stdout: '1\n141\n',
      stderr: '',
    })
    assert.match((await person.waldo(['cp', '-', 'there:'])).stderr, /is a directory; say what the file/)
    assert.match((await person.waldo(['cp', '-', '-'])).stderr, /one of both must be a file/)
  })

  test('a target that is a directory gets the copy into it', async () => {
    await using server = await startServer()
    using person = await personWith(server)
    writeFileSync(person.path('file'), '1')
    mkdirSync(person.path('there/sub'))
    for (const target of ['there:', 'there:sub', 'there:sub/../sub/']) {
      assert.equal((await person.waldo(['cp', 'file', target])).code, 0)
    }
    assert.ok(existsSync(person.path('there/file')) && existsSync(person.path('there/sub/file')))
    assert.match((await person.waldo(['cp', 'file', 'there:none/'])).stderr, /there is no directory/)
  })

  test('~ is home there', async () => {
    using person = new Person()
    await using server = await startServer({ env: { HOME: person.directory } })
    writeFileSync(person.path('file'), 'at home')
    assert.equal((await person.waldo(['cp', `[${server.url}]:~/file`, '-'])).stdout, 'at home')
  })

  test('-r copies everything: modes, names of any bytes, what links lead to', async () => {
    await using server = await startServer()
    using person = await personWith(server)
    mkdirSync(person.path('tree/deep/empty'), { recursive: true })
    writeFileSync(person.path('tree/run.sh'), '#!/bin/sh', { mode: 0o755 })
    writeFileSync(person.path('tree/deep/secret'), 's', { mode: 0o600 })
    writeFileSync(below(person.path('tree/deep'), ODD_NAME), 'odd')
    writeFileSync(person.path('tree/C:'), 'drive?')
    symlinkSync('deep/secret', person.path('tree/link'))
    for (let n = 0; n < 30; n++) writeFileSync(person.path(`tree/deep/${n}`), String(n))
    chmodSync(person.path('tree/deep'), 0o550)
    assert.match((await person.waldo(['cp', 'tree', 'there:copy'])).stderr, /with -r it is copied/)
    assert.deepEqual(await person.waldo(['cp', '-r', 'tree', 'there:copy']), { code: 0, stdout: '', stderr: '' })
    const modes = ['run.sh', 'deep/secret', 'deep'].map(
      (name) => statSync(person.path(`there/copy/${name}`)).mode & 0o777,
    )
    assert.deepEqual(modes, [0o755, 0o600, 0o550])
    assert.equal((await person.waldo(['cp', '-r', 'there:copy', 'back'])).code, 0)
    assert.equal((await person.shell('chmod 750 tree/deep there/copy/deep; diff -r tree back')).stdout, '')
    assert.equal(readFileSync(below(person.path('back/deep'), ODD_NAME), 'utf8'), 'odd')
    // There is something now: it goes below.
    assert.equal((await person.waldo(['cp', '-r', 'tree', 'there:copy'])).code, 0)
    assert.ok(existsSync(person.path('there/copy/tree/run.sh')))
  })

  test('what cannot be copied is named, and the rest is', async () => {
    await using server = await startServer()
    using person = await personWith(server)
    await person.shell('mkdir tree; mkfifo tree/pipe; echo 1 > tree/a; echo 2 > tree/z')
    const { code, stderr } = await person.waldo(['cp', '-r', 'tree', 'there:copy'])
    assert.equal(code, 1)
    assert.match(stderr, /neither files nor directories: \S+tree\/pipe\n/)
    assert.deepEqual(readdirSync(person.path('there/copy')).sort(), ['a', 'z'])
  })

  test('a copy into itself, and links that lead in circles, come to an end', async () => {
    await using server = await startServer()
    using person = await personWith(server)
    mkdirSync(person.path('tree/sub'), { recursive: true })
    assert.match((await person.waldo(['cp', '-r', 'tree', 'tree/sub'])).stderr, /into itself/)
    assert.match((await person.waldo(['cp', '-r', `there:${person.path('tree')}`, 'tree/sub'])).stderr, /into itself/)
    symlinkSync('..', person.path('tree/sub/up'))
    const { code, stderr } = await person.waldo(['cp', '-r', 'tree', 'there:copy'])
    assert.equal(code, 1)
    assert.match(stderr, /Error: .*(directories deep|Too many levels)/)
  })

  test('a colon decides only after a name we know', async () => {
    await using server = await startServer()
    using person = await personWith(server)
    writeFileSync(person.path('there:x'), 'a file of this machine')
    writeFileSync(person.path('12:30'), 'noon')
    assert.equal((await person.waldo(['cp', './there:x', '-'])).stdout, 'a file of this machine')
    assert.equal((await person.waldo(['cp', '12:30', '-'])).stdout, 'noon')
    const { code, stderr } = await person.waldo(['cp', '12:30', 'ther:file'])
    assert.equal(code, 1)
    assert.match(stderr, /no environment `ther`; there are: local, there\nfor a file of that name write \.\/ther:file/)
  })

  for (const { title, args, says } of [
    { title: 'no source', args: ['no-such-file', 'there:x'], says: /there is no \S+no-such-file/ },
    { title: 'no source there', args: ['there:no-such-file', '.'], says: /there is no there:\S+no-such-file/ },
    {
      title: 'no directory there',
      args: ['/etc/hostname', 'there:/no/such/x'],
      says: /→ there:\/no\/such\/x: No such/,
    },
    { title: 'nobody there', args: ['[ws://127.0.0.1:1]:/x', '.'], says: /waldo serve --listen ws:\/\/127.0.0.1:1/ },
    { title: 'a target too few', args: ['x'], says: /needs a SOURCE and a TARGET/ },
    { title: 'a target too many', args: ['a', 'b', 'c'], says: /unexpected argument `c`/ },
    { title: 'an unknown option', args: ['-p', 'a', 'b'], says: /unknown option `-p`/ },
  ]) {
    test(`${title}: says so and exits with 1`, async () => {
      await using server = await startServer()
      using person = await personWith(server)
      const { code, stdout, stderr } = await person.waldo(['cp', ...args])
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, says)
    })
  }

  for (const how of ['the server is killed', 'we are interrupted'] as const) {
    test(`if ${how} in the middle, the target is what it was, and nothing is left beside it`, async () => {
      await using server = await startServer()
      using person = await personWith(server)
      writeFileSync(person.path('there/target'), 'old')
      const child = person.spawn(['cp', '-', 'there:target'], 'pipe')
      const stdin = child.stdin as Bun.FileSink
      stdin.write(randomBytes(4_000_000))
      await stdin.flush()
      // Some of it is on its way: it has been opened for writing.
      const isOpen = () => readdirSync(`/proc/${server.pid}/fd`).some((fd) => pathOf(server.pid, fd).includes('/there'))
      await eventually(isOpen, 'the copy to begin')
      if (how === 'we are interrupted') child.kill('SIGINT')
      else {
        server.kill('SIGKILL')
        await server.exited
        // If it has not noticed by itself, it does now; if it has, nobody takes this.
        try {
          stdin.write(randomBytes(1_000_000))
          Promise.resolve(stdin.flush()).catch(() => {})
        } catch {}
      }
      assert.equal(await child.exited, how === 'we are interrupted' ? 130 : 1)
      const said = await child.stderr.text()
      assert.match(said, how === 'we are interrupted' ? /^$/ : /Error: there:\S+target: [\s\S]*lost/)
      assert.equal(readFileSync(person.path('there/target'), 'utf8'), 'old')
      await eventually(() => readdirSync(person.path('there')).length === 1, 'the traces to go')
    })
  }

  test('shows on a terminal how far it is', async () => {
    await using server = await startServer()
    using person = await personWith(server)
    writeFileSync(person.path('big'), '')
    truncateSync(person.path('big'), 150_000_000)
    await using screen = person.terminal('waldo cp big there:big; echo "code $?"')
    await screen.shows(/█+░* \d+% {2}[\d.]+ [kM]?B of 150.0 MB {2}[\d.]+ MB\/s/)
    await screen.shows('code 0')
    assert.match(screen.text, /1 file, 150.0 MB, [\d.]+ MB\/s/)
    assert.equal(statSync(person.path('there/big')).size, 150_000_000)
  })
})

function pathOf(pid: number, fd: string): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`)
  } catch {
    return '' // It was closed meanwhile.
  }
}
