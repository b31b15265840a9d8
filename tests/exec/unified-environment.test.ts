import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect } from '@waldo/sdk'
import { startExecutor } from '../environments/executors.ts'
import { scratch } from '../environments/scratch.ts'
import { inEachPlace, type Place, Talk } from './place.ts'

/** What a command has in its environment. */
async function variables(talk: Talk, args: object = {}): Promise<Record<string, string>> {
  const { output } = await talk.run('exec_command', { cmd: 'env', ...args })
  return Object.fromEntries(
    output
      .trim()
      .split(/\r?\n/)
      .map((line) => line.split(/=(.*)/s, 2)),
  )
}

inEachPlace('the environment of a command', (place) => {
  test('is quiet, also in a terminal', async () => {
    await using talk = new Talk(place())
    for (const tty of [false, true]) {
      const found = await variables(talk, { tty })
      assert.deepEqual(
        [found.TERM, found.PAGER, found.NO_COLOR, found.COLORTERM, found.LC_ALL, found.WALDO_AGENT],
        ['dumb', 'cat', '1', '', 'C.UTF-8', '1'],
      )
      assert.equal(found.WALDO_CONVERSATION_ID, talk.conversation.id)
      assert.equal(found.WALDO_NETWORK_DISABLED, undefined)
    }
  })

  test('has what a user has set, whatever we would say', async () => {
    const set = { TERM: 'xterm-256color', LANG: 'C', EXTRA: 'x', MY_TOKEN: 'meant so' }
    await using talk = new Talk(place(), { settings: { shellEnvironment: { set, exclude: ['HOME'] } } })
    const found = await variables(talk)
    assert.deepEqual([found.TERM, found.LANG, found.EXTRA, found.LC_ALL], ['xterm-256color', 'C', 'x', undefined])
    assert.deepEqual([found.MY_TOKEN, found.HOME, found.PAGER], ['meant so', undefined, 'cat'])
  })

  test('can be nothing but what is said', async () => {
    await using talk = new Talk(place(), { settings: { shellEnvironment: { inherit: 'none' } } })
    const found = await variables(talk)
    assert.equal(found.HOME, undefined)
    assert.equal(found.TERM, 'dumb')
  })
})

describe('the environment of a command, far away', () => {
  test('has ours whatever is there or here, and no secrets', async () => {
    using home = scratch()
    const env = { TERM: 'xterm', PAGER: 'less', AWS_SECRET_ACCESS_KEY: 's', NPM_TOKEN: 't', PLAIN: 'p' }
    await using executor = await startExecutor({ env })
    await using environment = connect(executor.url, { cwd: home.path })
    const far: Place = { environment, directory: home.path, async [Symbol.asyncDispose]() {} }
    const before = process.env.TERM
    // The same value here is no reason to leave it out there.
    process.env.TERM = 'dumb'
    try {
      await using talk = new Talk(far)
      const found = await variables(talk)
      assert.deepEqual([found.TERM, found.PAGER, found.PLAIN], ['dumb', 'cat', 'p'])
      assert.deepEqual([found.AWS_SECRET_ACCESS_KEY, found.NPM_TOKEN], [undefined, undefined])
      await using open = new Talk(far, { settings: { shellEnvironment: { ignoreDefaultExcludes: true } } })
      assert.equal((await variables(open)).NPM_TOKEN, 't')
    } finally {
      if (before === undefined) delete process.env.TERM
      else process.env.TERM = before
    }
  })
})
