import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadyEnvironments } from '@waldo/environment'
import { Conversation } from '@waldo/exec'
import { openPolicy } from '@waldo/exec/node'
import { PLACES } from './place.ts'

test('a conversation needs a policy and nothing else, and the starter rules count where they are wanted', async () => {
  await using place = await PLACES.local()
  const { environment, directory } = place
  const env = { HOME: directory }
  const settings = { approvalPolicy: 'untrusted', allowLoginShell: false } as const
  for (const starter of [false, true]) {
    const policy = await openPolicy({ env, workspace: directory, starter, systemDirectory: `${directory}/none` })
    await using conversation = new Conversation({ ...policy, settings })
    const turn = conversation.turn({ environments: await ReadyEnvironments.of(environment, { cwd: directory }) })
    const { text, success } = await conversation.call('exec_command', { cmd: 'ls -a' }, { turn })
    assert.equal(success, starter, text)
    if (!starter) assert.match(text, /nobody/i)
    assert.equal((await conversation.call('list_sessions', {}, { turn })).text, 'No sessions are open.')
  }
})
