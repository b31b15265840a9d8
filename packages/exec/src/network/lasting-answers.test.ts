import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { amendment, decide, FOR_SESSION, networkConversation, REQUEST, YES } from './fixtures/network-conversation.ts'

describe('an answer for good', () => {
  test('is saved, and holds for all commands at once', async () => {
    const saved: unknown[] = []
    const { run, queue, answer, warnings } = networkConversation(async (...rule) => {
      saved.push(rule)
    })
    const allowed = decide(run())
    await answer(amendment('allow'))
    assert.equal(await allowed, 'allow')
    assert.equal(await decide(run()), 'allow')
    const other = { ...REQUEST, host: 'evil.test' }
    const denied = decide(run(), other)
    await answer(amendment('deny', 'EVIL.test'))
    assert.deepEqual(await denied, { deny: 'not_approved' })
    const later = run()
    assert.deepEqual(await decide(later, other), { deny: 'not_allowed' })
    assert.match(later.denial() ?? '', /"https:\/\/evil.test:443" was denied: it was denied for this conversation/)
    assert.equal(queue.list().length, 0)
    assert.deepEqual(saved, [
      ['example.test', 'https_connect', 'allow', 'project'],
      ['evil.test', 'https_connect', 'deny', 'project'],
    ])
    assert.deepEqual(warnings(), [])
  })

  test('that cannot be saved holds for the conversation, and somebody is warned', async () => {
    for (const action of ['allow', 'deny'] as const) {
      const { run, queue, answer, warnings } = networkConversation(async () => {
        throw new Error('the disk is full')
      })
      const asked = decide(run())
      await answer(amendment(action))
      assert.equal((await asked) === 'allow', action === 'allow')
      assert.equal((await decide(run())) === 'allow', action === 'allow')
      assert.equal(queue.list().length, 0)
      assert.equal(
        warnings().join(),
        `the rule to ${action} "example.test" was not saved, and holds for this conversation only: the disk is full`,
      )
    }
  })

  test('that denies is stronger than one that allows, whichever comes first', async () => {
    for (const late of [YES, FOR_SESSION, amendment('allow')]) {
      const { run, queue, question } = networkConversation()
      const [one, two] = [run(), run({ callId: 'call-2' })]
      const verdicts = [decide(one), decide(two)]
      await question()
      const [first, second] = queue.list()
      queue.decide(first!.id, amendment('deny'))
      queue.decide(second!.id, late)
      assert.deepEqual(await Promise.all(verdicts), [{ deny: 'not_approved' }, { deny: 'not_approved' }])
      assert.match(two.denial() ?? '', /denied for this conversation meanwhile/)
      assert.notEqual(await decide(run()), 'allow')
    }
    const { run, queue, question } = networkConversation()
    const [earlier, denying] = [decide(run()), decide(run({ callId: 'call-2' }))]
    await question()
    const [first, second] = queue.list()
    queue.decide(first!.id, FOR_SESSION)
    assert.equal(await earlier, 'allow')
    queue.decide(second!.id, amendment('deny'))
    assert.notEqual(await denying, 'allow')
    assert.notEqual(await decide(run()), 'allow')
  })
})
