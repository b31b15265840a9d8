import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EnvironmentStatus } from '@waldo/environment'
import { isAlive } from '@waldo/testkit'
import { all, fails, until } from '../collect.ts'
import { sh } from './processes.ts'
import type { Setting } from './setting.ts'

export function lifecycleBehaviour(setting: Setting): void {
  const { open } = setting

  test('an environment is idle until it is used, then ready, and closed in the end', async () => {
    const env = open()
    const seen: EnvironmentStatus['state'][] = []
    const stop = env.onStatus(({ state }) => seen.push(state))
    assert.equal(env.status.state, 'idle')
    await Promise.all(Array.from({ length: 50 }, () => env.ready()))
    const info = await env.info()
    assert.equal(info.platformOs, process.platform === 'darwin' ? 'macos' : 'linux')
    await env.close()
    assert.equal(env.status.state, 'closed')
    const steady = seen.filter((state) => !setting.cuts || state !== 'recovering')
    assert.deepEqual(steady.slice(0, 2), ['connecting', 'ready'])
    assert.equal(seen.at(-1), 'closed')
    if (!setting.cuts) assert.deepEqual(seen, ['connecting', 'ready', 'closed'])
    stop()
    await env.close()
    await fails(env.ready(), 'CLOSED')
    await fails(env.processes.start(['true']), 'CLOSED')
    await fails(env.files.readFile('/etc/passwd'), 'CLOSED')
  })

  test('closing one that was never used opens nothing', async () => {
    const env = open()
    const seen: string[] = []
    env.onStatus(({ state }) => seen.push(state))
    await env.close()
    assert.deepEqual(seen, ['closed'])
  })

  test('a listener that has left is told nothing', async () => {
    await using env = open()
    let told = 0
    env.onStatus(() => told++)()
    await env.ready()
    assert.equal(told, 0)
  })

  test('closing ends processes, and whatever is pending with CLOSED', async () => {
    const env = open()
    const sleeper = await sh(env, 'sleep 1000')
    const [{ pid } = { pid: 0 }] = await env.processes.list()
    const waiting = sleeper.wait()
    const reading = all(sleeper.events())
    const text = sleeper.text()
    const watching = env.files.watch('/tmp', { recursive: false })[Symbol.asyncIterator]().next()
    const pending = [reading, text, watching].map((promise) => fails(promise, 'CLOSED'))
    const closing = env.close()
    const late = fails(sleeper.write('x'), 'CLOSED')
    await Promise.all([closing, env.close(), ...pending, late])
    const { state, error } = await waiting
    assert.deepEqual([state, error?.code], ['lost', 'CLOSED'])
    await until(() => !isAlive(pid))
  })

  test('closing while it connects leaves nothing behind', async () => {
    const env = open()
    const ready = fails(env.ready(), 'CLOSED')
    await env.close()
    await ready
  })

  test('a call that is too large for any executor is refused, and nothing else suffers', async () => {
    await using env = open()
    const large = new Uint8Array(60 * 1024 * 1024)
    const error = await fails(env.files.writeFile('/tmp/never-written', large), 'REFUSED')
    assert.match(error.message, /larger than/)
    assert.equal(await env.files.exists('/tmp/never-written'), false)
  })
}
