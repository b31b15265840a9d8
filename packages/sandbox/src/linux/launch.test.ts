import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Access } from '@waldo/protocol'
import { eventually } from '@waldo/testkit'
import { at, bind, special } from '../policy/fixtures/fake-host.ts'
import type { Launch } from './launch.ts'
import { LinuxSandbox } from './linux-sandbox.ts'
import type { PreparedSandbox } from './prepared-sandbox.ts'

let directory: string
let sandbox: LinuxSandbox
const path = (name: string) => join(directory, name)
beforeEach(() => {
  directory = mkdtempSync('/var/tmp/waldo-launch-')
  for (const name of ['w', 'w/r', 'out']) mkdirSync(path(name))
  sandbox = new LinuxSandbox({ stateDir: path('state'), hidden: () => [path('state')] })
})
afterEach(() => {
  sandbox.close()
  rmSync(directory, { recursive: true })
})

/** Everything may be read, and this besides. */
async function prepare(...entries: [Access, string][]): Promise<PreparedSandbox> {
  const facts = sandbox.lookAround()
  const said = entries.map(([access, name]) => ({ path: at(path(name)), access }))
  const policy = bind({ entries: [{ path: special('root'), access: 'read' }, ...said], cwd: '/' }, facts)
  return sandbox.prepare({ policy, facts, network: 'restricted' })
}

function launch(prepared: PreparedSandbox, script: string, env: Record<string, string> = {}): Launch {
  const command = { program: '/bin/sh', args: ['-c', script], arg0: undefined, cwd: path('w'), env }
  return prepared.launch(command, { terminal: false })
}

/** Starts it, lets it begin, and says how it ended. */
async function run(launched: Launch) {
  const { argv, cwd, env } = launched
  let isChecked = false
  const child = launched.start((descriptors) => {
    // One more is what it waits for.
    isChecked = descriptors.length === 4
    return Bun.spawn([...argv], { cwd, env, stdio: ['ignore', 'pipe', 'pipe', ...descriptors], detached: true })
  })
  await launched.begin(() => process.kill(-child.pid, 'SIGKILL'))
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  const ran = launched.ran(child.signalCode !== null)
  await launched.settle()
  return { stdout, stderr, ran, isChecked }
}

/** Everything that stays open after the first command is open. */
async function openBefore(prepared: PreparedSandbox): Promise<number> {
  await run(launch(prepared, 'true'))
  return open()
}
const open = () => readdirSync('/proc/self/fd').length
const allClosed = (before: number) => eventually(() => open() <= before, 'everything to be closed')
const names = () => readdirSync(path('w')).sort()

describe('a command that is started in a sandbox', () => {
  test('has nothing of the executor but what it was given, and leaves nothing open', async () => {
    process.env.WALDO_TEST_SECRET = 'secret'
    const prepared = await prepare(['write', 'w'])
    const before = await openBefore(prepared)
    const { stdout, ran } = await run(launch(prepared, 'pwd; ls /proc/self/fd | wc -l; env -u PWD', { A: 'a=b\n c' }))
    delete process.env.WALDO_TEST_SECRET
    assert.deepEqual([stdout, ran], [`${path('w')}\n4\nA=a=b\n c\n`, true])
    await allClosed(before)
    assert.deepEqual(names(), ['r'])
  })

  test('leaves nothing either if it is never started', async () => {
    const prepared = await prepare(['write', 'w'])
    const before = await openBefore(prepared)
    const launched = launch(prepared, 'true')
    assert.deepEqual(names(), ['.agents', '.aws', '.codex', '.git', '.waldo', 'r'])
    launched.abandon()
    await allClosed(before)
    assert.deepEqual(names(), ['r'])
  })

  test('has a network with nothing in it, and we keep ours', async () => {
    const ours = readlinkSync('/proc/thread-self/ns/net')
    const prepared = await prepare()
    const { stdout } = await run(launch(prepared, 'readlink /proc/self/ns/net; tail -n +3 /proc/net/dev'))
    const [theirs, ...interfaces] = stdout.trimEnd().split('\n')
    assert.match(theirs!, /^net:/)
    assert.notEqual(theirs, ours)
    assert.deepEqual(
      interfaces.map((line) => line.trim().split(':')[0]),
      ['lo'],
    )
    const unstarted = launch(prepared, 'true')
    const failing = () => unstarted.start(() => assert.fail('there is nothing to start'))
    assert.throws(failing, /nothing to start/)
    unstarted.abandon()
    assert.equal(readlinkSync('/proc/thread-self/ns/net'), ours)
  })

  test('is refused with more variables than bubblewrap takes, and leaves nothing', async () => {
    const prepared = await prepare(['write', 'w'])
    const variables = Object.fromEntries(Array.from({ length: 3001 }, (_, i) => [`V${i}`, '']))
    const before = await openBefore(prepared)
    for (let n = 0; n < 3; n++) assert.throws(() => launch(prepared, 'true', variables), /too many arguments/)
    await allClosed(before)
    assert.deepEqual(names(), ['r'])
  })

  test('never began if its sandbox cannot be made', async () => {
    const prepared = await prepare(['deny', 'w/r'])
    rmSync(path('w/r'), { recursive: true })
    const { ran, stdout, stderr } = await run(launch(prepared, 'echo ran'))
    assert.deepEqual([ran, stdout], [false, ''])
    assert.match(stderr, /^bwrap: /)
  })

  test('began, even if it was killed', async () => {
    assert.equal((await run(launch(await prepare(), 'kill -9 $$'))).ran, true)
  })

  test('sees names that are only protected as missing, as long as they are nothing else', async () => {
    const prepared = await prepare(['write', 'w'])
    const first = launch(prepared, 'true')
    assert.equal(sandbox.lookAround().kindOf(path('w/.git')), undefined)
    writeFileSync(path('w/.git/HEAD'), 'ref: refs/heads/main')
    assert.equal(sandbox.lookAround().kindOf(path('w/.git')), 'directory')
    first.abandon()
    assert.deepEqual(names(), ['.git', 'r'])
  })

  test('is prepared anew if something that is mounted for it was replaced', async () => {
    const prepared = await prepare(['write', 'w'])
    const before = prepared.identity
    assert.equal((await prepare(['write', 'w'])).identity, before)
    renameSync(path('w'), path('gone'))
    assert.notEqual(prepared.identity, before)
    mkdirSync(path('w'))
    assert.notEqual(prepared.identity, before)
  })
})

describe('a command whose directories another one may replace', () => {
  /** Another command with more rights runs, until it is abandoned. */
  async function whileOtherRuns(act: () => Promise<void>): Promise<void> {
    const other = launch(await prepare(['write', 'w']), 'true')
    try {
      await act()
    } finally {
      other.abandon()
    }
  }

  test('begins if none of them was, and is not looked at when the other has ended', async () => {
    const prepared = await prepare(['write', 'w/r'])
    await whileOtherRuns(async () => {
      const { isChecked, ...ended } = await run(launch(prepared, 'echo ran; echo x > r/made'))
      assert.deepEqual([ended, isChecked], [{ stdout: 'ran\n', stderr: '', ran: true }, true])
    })
    assert.ok(existsSync(path('w/r/made')))
    assert.equal((await run(launch(prepared, 'true'))).isChecked, false)
  })

  test('never begins if one was', async () => {
    const prepared = await prepare(['write', 'w/r'])
    const before = await openBefore(prepared)
    await whileOtherRuns(async () => {
      const launched = launch(prepared, `echo ran; touch ${path('out')}/made`)
      renameSync(path('w/r'), path('w/gone'))
      symlinkSync('../out', path('w/r'))
      const { stdout, ran } = await run(launched)
      assert.deepEqual([stdout, ran], ['', false])
    })
    assert.deepEqual(
      readdirSync(path('out')).filter((name) => name === 'made'),
      [],
    )
    await allClosed(before)
  })

  test('is refused if a link of the other leads to them', async () => {
    symlinkSync('w/r', path('l'))
    const prepared = await prepare(['write', 'l'])
    const other = await prepare(['write', '.'])
    const running = launch(other, 'true')
    assert.throws(() => launch(prepared, 'true'), { name: 'PolicyError', message: /symbolic link/ })
    running.abandon()
    assert.equal((await run(launch(prepared, 'true'))).ran, true)
  })
})
