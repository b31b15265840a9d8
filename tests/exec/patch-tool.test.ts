import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ReviewDecision, scriptedApprover } from '@waldo/exec'
import { PLACES, type Place, Talk, type TalkOptions } from './place.ts'

const yes: ReviewDecision = { kind: 'approved' }
const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'
const adding = (path: string, text = 'new') => `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch\n`

for (const [where, open] of Object.entries(PLACES)) {
  describe(`what a patch goes through, ${where}`, { skip }, () => {
    let place: Place
    let elsewhere: string
    before(async () => {
      place = await open()
      elsewhere = join(process.env.HOME!, `.waldo-patch-test-${process.pid}-${where}`)
      mkdirSync(elsewhere)
    })
    after(async () => {
      rmSync(elsewhere, { recursive: true, force: true })
      await place[Symbol.asyncDispose]()
    })

    async function talkThen(
      options: TalkOptions,
      answers: ReviewDecision[],
      work: (talk: Talk, asked: ReturnType<typeof scriptedApprover>['asked']) => Promise<void>,
    ) {
      const approver = scriptedApprover(answers)
      const settings = { permissions: 'workspace' as const, ...options.settings }
      await using talk = new Talk(place, { ...options, approvers: [approver], settings })
      await work(talk, approver.asked)
      assert.equal(approver.asked.length, answers.length, 'as many questions as answers')
      assert.equal(talk.ofType('patch_begin').length, talk.ofType('patch_end').length)
    }
    const at = (name: string) => join(place.directory, name)

    test('what may be written is written without a question', async () => {
      await talkThen({}, [], async (talk) => {
        const { text, success } = await talk.call('apply_patch', adding('plain.txt'))
        assert.deepEqual(
          { text, success },
          { text: 'Success. Updated the following files:\nA plain.txt\n', success: true },
        )
        assert.equal(readFileSync(at('plain.txt'), 'utf8'), 'new\n')
      })
    })

    test('models that can only call functions write it as input', async () => {
      await talkThen({}, [], async (talk) => {
        for (const args of [{ input: adding('a') }, JSON.stringify({ input: adding('b') })]) {
          assert.equal((await talk.call('apply_patch', args)).success, true)
        }
        assert.match((await talk.call('apply_patch', { patch: 1 })).text, /failed to parse function arguments/)
      })
    })

    test('a patch that does not fit changes nothing, asks nobody, and is told why', async () => {
      writeFileSync(at('fits'), 'one\ntwo\n')
      const patch = `*** Begin Patch\n*** Add File: other\n+x\n*** Update File: fits\n@@\n-three\n+four\n*** End Patch`
      await talkThen({ settings: { approvalPolicy: 'untrusted' } }, [], async (talk) => {
        const { text, success } = await talk.call('apply_patch', patch)
        assert.equal(success, false)
        assert.match(text, /^apply_patch verification failed: /)
        assert.ok(!existsSync(at('other')))
      })
    })

    test('outside of the workspace somebody is asked, sees the diff, and only that place is opened', async () => {
      const path = join(elsewhere, 'asked.txt')
      await talkThen({}, [yes], async (talk, asked) => {
        assert.equal((await talk.call('apply_patch', adding(path))).success, true)
        assert.equal(readFileSync(path, 'utf8'), 'new\n')
        const [request] = asked
        assert.ok(request!.subject.kind === 'patch' && request!.subject.files[0]!.diff.includes('+new'))
        assert.equal(request!.sandbox.kind, 'widened')
      })
      await talkThen({}, [{ kind: 'denied' }], async (talk) => {
        const { text, success } = await talk.call('apply_patch', adding(join(elsewhere, 'refused.txt')))
        assert.deepEqual({ text, success }, { text: 'patch rejected by user', success: false })
        assert.ok(!existsSync(join(elsewhere, 'refused.txt')))
      })
    })

    test('where nobody may be asked it is rejected', async () => {
      const never = { approvalPolicy: 'never' as const }
      await talkThen({ settings: never }, [], async (talk) => {
        const { text } = await talk.call('apply_patch', adding(join(elsewhere, 'never')))
        assert.equal(text, 'patch rejected: writing outside of the project; rejected by user approval settings')
      })
      await talkThen({ settings: { ...never, permissions: 'read-only' } }, [], async (talk) => {
        const { text } = await talk.call('apply_patch', adding('never'))
        assert.equal(
          text,
          'patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings',
        )
      })
    })

    test('an answer for the conversation holds for the same files', async () => {
      const settings = { approvalPolicy: 'untrusted' as const }
      await talkThen({ settings }, [{ kind: 'approved_for_session' }, yes], async (talk) => {
        for (const name of ['kept', 'kept', 'not-kept']) {
          assert.equal((await talk.call('apply_patch', adding(name))).success, true)
        }
      })
    })

    test('a link that leads out of the workspace does not lead a patch out unasked', async () => {
      rmSync(at('link'), { force: true })
      await talkThen({ settings: { approvalPolicy: 'never' } }, [], async (talk) => {
        assert.equal((await talk.run('exec_command', { cmd: `ln -s ${elsewhere} link` })).exitCode, 0)
        assert.equal((await talk.call('apply_patch', adding('link/through.txt'))).success, false)
        assert.ok(!existsSync(join(elsewhere, 'through.txt')))
      })
    })

    test('a patch that is written as a command is applied as one', async () => {
      mkdirSync(at('sub'), { recursive: true })
      await talkThen({}, [], async (talk) => {
        const cmd = `cd sub && apply_patch <<'EOF'\n${adding('shell.txt')}EOF`
        const { text, success } = await talk.call('exec_command', { cmd })
        assert.equal(success, true)
        assert.match(
          text,
          /^Wall time: 0\.0000 seconds\nOutput:\nSuccess\. Updated the following files:\nA shell\.txt\n/,
        )
        assert.equal(readFileSync(at('sub/shell.txt'), 'utf8'), 'new\n')
        assert.equal(talk.ofType('exec_begin').length, 0)
        const bare = await talk.call('exec_command', { cmd: adding('bare.txt') })
        assert.match(bare.text, /patch detected without explicit call to apply_patch/)
        assert.ok(!existsSync(at('bare.txt')))
      })
    })
  })
}
