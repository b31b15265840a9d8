import assert from 'node:assert/strict'
import { join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { eventually, isAlive } from '@waldo/testkit'

const MODULE = JSON.stringify(join(import.meta.dir, 'watchdog.ts'))

/** What a process that is about to be killed has left: ids by name, and the variable that marks its sandboxes. */
interface Left {
  readonly helper: number
  readonly mark: Readonly<Record<string, string>>
  readonly pids: Readonly<Record<string, number>>
}

/** Only what this test has started is looked at, and ended. */
const started = new Set<number>()
afterEach(() => {
  for (const pid of started) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  started.clear()
})

function sleep(env: Record<string, string> = {}): number {
  const child = Bun.spawn(['/bin/sleep', '60'], { env, detached: true, stdio: ['ignore', 'ignore', 'ignore'] })
  started.add(child.pid)
  return child.pid
}

/** A process with a watchdog, in which `script` may `start` others and has to say which they are by `pids`. */
async function startOwner(script: string): Promise<{ left: Left; kill: () => Promise<void> }> {
  const text = `
    const { Watchdog } = await import(${MODULE})
    const watchdog = new Watchdog()
    const start = (command, env = {}) =>
      Bun.spawn(['/bin/sh', '-c', command], { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const pids = {}
    ${script}
    process.stdout.write(JSON.stringify({ helper: watchdog.pid, mark: watchdog.mark, pids }) + '\\n')
    setInterval(() => {}, 1e6)`
  const owner = Bun.spawn([process.execPath, '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { value } = await owner.stdout.getReader().read()
  const left = JSON.parse(new TextDecoder().decode(value)) as Left
  for (const pid of [...Object.values(left.pids), left.helper]) started.add(pid)
  const kill = async () => {
    owner.kill('SIGKILL')
    await owner.exited
  }
  return { left, kill }
}

const gone = (pid: number, what: string) => eventually(() => !isAlive(pid), `${what} to end`)

describe('when the server is killed', () => {
  test('its processes end, in whatever session they are, and what was making a sandbox', async () => {
    const { left, kill } = await startOwner(`
      const leader = start('setsid sh -c "echo \\\\$\\\\$; exec sleep 60" & exec sleep 60')
      const { value } = await leader.stdout.getReader().read()
      pids.leader = leader.pid
      pids.escaped = Number(new TextDecoder().decode(value))
      watchdog.watch(leader.pid)
      pids.unlisted = start('exec sleep 60', watchdog.mark).pid`)
    for (const [name, pid] of Object.entries(left.pids)) assert.ok(isAlive(pid), name)
    await kill()
    for (const [name, pid] of Object.entries(left.pids)) await gone(pid, name)
    await gone(left.helper, 'the watchdog')
  })

  test('what was being started ends, too, though it does not have its mark yet', async () => {
    const { left, kill } = await startOwner(`
      const ended = start('true')
      await ended.exited
      watchdog.watch(ended.pid)
      const [[name, token]] = Object.entries(watchdog.mark)
      pids.late = start('sleep 0.4; exec env -i ' + name + '=' + token + ' sleep 60', { PATH: '/bin:/usr/bin' }).pid`)
    await kill()
    await gone(left.pids.late!, 'the late one')
    await gone(left.helper, 'the watchdog')
  })

  test('nobody else ends, however similar', async () => {
    const { left, kill } = await startOwner(`
      pids.leader = start('exec sleep 60').pid
      watchdog.watch(pids.leader)`)
    const [[name, token]] = Object.entries(left.mark) as [[string, string]]
    const bystanders = {
      'one without the variable': sleep(),
      'one of another server': sleep({ [name]: crypto.randomUUID() }),
      'one whose variable begins in the same way': sleep({ [name]: token.slice(0, -1) }),
      'one with a longer name': sleep({ [`${name}_ID`]: token, [`X${name}`]: token }),
      'one with the value elsewhere': sleep({ OTHER: `${name}=${token}` }),
      'one that was only started by somebody who has it': sleep({ A: 'a', [name]: token }),
      'one without any variable': sleep({}),
    }
    await kill()
    await gone(left.pids.leader!, 'its process')
    await gone(left.helper, 'the watchdog')
    for (const [who, pid] of Object.entries(bystanders)) assert.ok(isAlive(pid), who)
  })

  test('those end who are on the list then, not those who were', async () => {
    const { left, kill } = await startOwner(`
      for (const name of ['first', 'second', 'third']) {
        pids[name] = start('exec sleep 60').pid
        watchdog.watch(pids[name])
        if (name === 'first') watchdog.forget(pids.first)
      }
      watchdog.forget(0)`)
    await kill()
    for (const name of ['second', 'third']) await gone(left.pids[name]!, name)
    await gone(left.helper, 'the watchdog')
    assert.ok(isAlive(left.pids.first!))
  })
})

describe('a watchdog that is closed', () => {
  test('ends nobody', async () => {
    const { left, kill } = await startOwner(`
      pids.leader = start('exec sleep 60').pid
      watchdog.watch(pids.leader)
      pids.dog = watchdog.pid
      watchdog.close()
      watchdog.watch(start('exit').pid)`)
    assert.equal(left.helper, undefined)
    await gone(left.pids.dog!, 'the watchdog')
    await kill()
    assert.ok(isAlive(left.pids.leader!))
  })
})
