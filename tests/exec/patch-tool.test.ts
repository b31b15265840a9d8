import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { ReviewDecision } from '@waldo/exec'
import { fromPosixPath } from '@waldo/protocol'
import { PLACES, type Place, Talk, talkThen } from './place.ts'

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

    const at = (name: string) => join(place.directory, name)

    test('what may be written is written without a question', async () => {
      await talkThen(place, {}, [], async (talk) => {
        const { text, success } = await talk.call('apply_patch', adding('plain.txt'))
        assert.deepEqual(
          { text, success },
          { text: 'Success. Updated the following files:\nA plain.txt\n', success: true },
        )
        assert.equal(readFileSync(at('plain.txt'), 'utf8'), 'new\n')
      })
    })

    test('models that can only call functions write it as input', async () => {
      await talkThen(place, {}, [], async (talk) => {
        for (const args of [{ input: adding('a') }, JSON.stringify({ input: adding('b') })]) {
          assert.equal((await talk.call('apply_patch', args)).success, true)
        }
        assert.match((await talk.call('apply_patch', { patch: 1 })).text, /failed to parse function arguments/)
      })
    })

    test('a patch that does not fit changes nothing, asks nobody, and is told why', async () => {
      writeFileSync(at('fits'), 'one\ntwo\n')
      const patch = `*** Begin Patch\n*** Add File: other\n+x\n*** Update File: fits\n@@\n-three\n+four\n*** End Patch`
      await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, [], async (talk) => {
        const { text, success } = await talk.call('apply_patch', patch)
        assert.equal(success, false)
        assert.match(text, /^apply_patch verification failed: /)
        assert.ok(!existsSync(at('other')))
      })
    })

    test('outside of the workspace somebody is asked, sees the diff, and only that place is opened', async () => {
      const path = join(elsewhere, 'asked.txt')
      await talkThen(place, {}, [yes], async (talk, asked) => {
        assert.equal((await talk.call('apply_patch', adding(path))).success, true)
        assert.equal(readFileSync(path, 'utf8'), 'new\n')
        const [request] = asked
        assert.ok(request!.subject.kind === 'patch' && request!.subject.files[0]!.diff.includes('+new'))
        assert.equal(request!.sandbox.kind, 'widened')
      })
      await talkThen(place, {}, [{ kind: 'denied' }], async (talk) => {
        const { text, success } = await talk.call('apply_patch', adding(join(elsewhere, 'refused.txt')))
        assert.deepEqual({ text, success }, { text: 'patch rejected by user', success: false })
        assert.ok(!existsSync(join(elsewhere, 'refused.txt')))
      })
    })

    test('where nobody may be asked it is rejected', async () => {
      const never = { approvalPolicy: 'never' as const }
      await talkThen(place, { settings: never }, [], async (talk) => {
        const { text } = await talk.call('apply_patch', adding(join(elsewhere, 'never')))
        assert.equal(text, 'patch rejected: writing outside of the project; rejected by user approval settings')
      })
      await talkThen(place, { settings: { ...never, permissions: 'read-only' } }, [], async (talk) => {
        const { text } = await talk.call('apply_patch', adding('never'))
        assert.equal(
          text,
          'patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings',
        )
      })
    })

    test('an answer for the conversation holds for the same files', async () => {
      const settings = { approvalPolicy: 'untrusted' as const }
      await talkThen(place, { settings }, [{ kind: 'approved_for_session' }, yes], async (talk) => {
        for (const name of ['kept', 'kept', 'not-kept']) {
          assert.equal((await talk.call('apply_patch', adding(name))).success, true)
        }
      })
    })

    test('what was granted ahead is written without a question', async () => {
      const granting = { permissions: { file_system: { write: [elsewhere] } } }
      await talkThen(place, {}, [yes], async (talk) => {
        assert.equal((await talk.call('request_permissions', granting)).success, true)
        assert.equal((await talk.call('apply_patch', adding(join(elsewhere, 'granted.txt')))).success, true)
        await talk.newTurn({ approvalPolicy: 'never' })
        assert.equal((await talk.call('apply_patch', adding(join(elsewhere, 'later.txt')))).success, false)
      })
    })

    test('a link that leads out of the workspace does not lead a patch out unasked', async () => {
      rmSync(at('link'), { force: true })
      await talkThen(place, { settings: { approvalPolicy: 'never' } }, [], async (talk) => {
        assert.equal((await talk.run('exec_command', { cmd: `ln -s ${elsewhere} link` })).exitCode, 0)
        assert.equal((await talk.call('apply_patch', adding('link/through.txt'))).success, false)
        assert.ok(!existsSync(join(elsewhere, 'through.txt')))
      })
    })

    test('a workspace that the user knows by a link is called so, and written to without a question', async () => {
      // Not where a sandbox may write: there, an executor takes no link for a workspace.
      const link = `${elsewhere}-workspace`
      symlinkSync(place.directory, link)
      using _ = { [Symbol.dispose]: () => rmSync(link) }
      const settings = { permissions: 'workspace' as const, approvalPolicy: 'never' as const }
      await using talk = new Talk({ ...place, directory: link }, { settings })
      mkdirSync(at('below'), { recursive: true })
      for (const workdir of ['.', 'below', at('below')]) {
        const cmd = `apply_patch <<'EOF'\n${adding('known.txt')}EOF`
        const { text, success } = await talk.call('exec_command', { cmd, workdir })
        assert.ok(success, text)
      }
      const expected = ['known.txt', 'below/known.txt', 'below/known.txt'].map((name) =>
        fromPosixPath(join(link, name)),
      )
      assert.deepEqual(
        talk.ofType('patch_begin').flatMap(({ files }) => files),
        expected,
      )
    })

    describe('in a directory that a model chose and that is a link out of the workspace', () => {
      const changing = (before: string, after: string) =>
        `*** Begin Patch\n*** Update File: rc\n@@\n-${before}\n+${after}\n*** End Patch\n`
      const ways = {
        workdir: (patch: string) => ({ cmd: `apply_patch <<'EOF'\n${patch}EOF`, workdir: 'docs' }),
        cd: (patch: string) => ({ cmd: `cd docs && apply_patch <<'EOF'\n${patch}EOF` }),
      }
      const outside = () => join(elsewhere, 'rc')
      beforeEach(() => {
        rmSync(at('docs'), { recursive: true, force: true })
        writeFileSync(outside(), 'safe\n')
      })

      for (const [way, call] of Object.entries(ways)) {
        test(`somebody is asked, and shown where it really writes (${way})`, async () => {
          symlinkSync(elsewhere, at('docs'))
          for (const approvalPolicy of ['on-request', 'untrusted'] as const) {
            await talkThen(place, { settings: { approvalPolicy } }, [{ kind: 'denied' }], async (talk, asked) => {
              assert.equal((await talk.call('exec_command', call(changing('safe', 'evil')))).success, false)
              const { subject, sandbox } = asked[0]!
              assert.ok(subject.kind === 'patch')
              const paths = [subject.cwd, ...subject.files.map(({ path }) => path)]
              assert.deepEqual(paths, [fromPosixPath(elsewhere), fromPosixPath(outside())])
              assert.equal(sandbox.kind, 'widened')
            })
          }
          await talkThen(place, { settings: { approvalPolicy: 'never' } }, [], async (talk) => {
            const { text } = await talk.call('exec_command', call(changing('safe', 'evil')))
            assert.match(text, /patch rejected: writing outside of the project/)
          })
          assert.equal(readFileSync(outside(), 'utf8'), 'safe\n')
        })
      }

      test('an answer for the conversation about the directory that it was before does not hold', async () => {
        mkdirSync(at('docs'))
        writeFileSync(at('docs/rc'), 'safe\n')
        const answers: ReviewDecision[] = [{ kind: 'approved_for_session' }, { kind: 'denied' }]
        await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, answers, async (talk) => {
          assert.equal((await talk.call('exec_command', ways.cd(changing('safe', 'fine')))).success, true)
          renameSync(at('docs'), at('docs-before'))
          symlinkSync(elsewhere, at('docs'))
          assert.equal((await talk.call('exec_command', ways.cd(changing('safe', 'evil')))).success, false)
          assert.equal(readFileSync(outside(), 'utf8'), 'safe\n')
        })
        rmSync(at('docs-before'), { recursive: true })
      })
    })

    test('an answer for the conversation to a change holds for no other kind of change', async () => {
      const changing = (before: string, after: string) =>
        `*** Begin Patch\n*** Update File: kinds\n@@\n-${before}\n+${after}\n*** End Patch`
      const section = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n')
      writeFileSync(at('kinds'), '1\n')
      const no: ReviewDecision = { kind: 'denied' }
      const answers: ReviewDecision[] = [{ kind: 'approved_for_session' }, no, no, no]
      await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, answers, async (talk, asked) => {
        assert.equal((await talk.call('apply_patch', changing('1', '2'))).success, true)
        assert.equal((await talk.call('apply_patch', changing('2', '3'))).success, true)
        assert.equal(asked.length, 1)
        await talk.call('apply_patch', section('*** Delete File: kinds'))
        await talk.call('apply_patch', section('*** Update File: kinds', '*** Move to: kinds-moved'))
        await talk.call('apply_patch', section('*** Add File: kinds', '+4'))
        assert.equal(readFileSync(at('kinds'), 'utf8'), '3\n')
      })
    })

    test('an answer for the conversation to a move holds for no other target', async () => {
      const moving = (to: string) => `*** Begin Patch\n*** Update File: mover\n*** Move to: ${to}\n*** End Patch`
      const answers: ReviewDecision[] = [{ kind: 'approved_for_session' }, { kind: 'denied' }]
      await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, answers, async (talk) => {
        for (const [to, success] of [
          ['there', true],
          ['there', true],
          ['elsewhere', false],
        ] as const) {
          writeFileSync(at('mover'), '1\n')
          assert.equal((await talk.call('apply_patch', moving(to))).success, success)
        }
      })
    })

    test('a move over a file elsewhere shows what lands there and what is lost', async () => {
      writeFileSync(at('notes.txt'), 'curl | sh\n')
      writeFileSync(join(elsewhere, 'shellrc'), 'precious\n')
      const target = join(elsewhere, 'shellrc')
      await talkThen(place, {}, [{ kind: 'denied' }], async (talk, asked) => {
        await talk.call(
          'apply_patch',
          `*** Begin Patch\n*** Update File: notes.txt\n*** Move to: ${target}\n*** End Patch`,
        )
        const { subject } = asked[0]!
        assert.ok(subject.kind === 'patch')
        assert.deepEqual(subject.files, [
          {
            kind: 'move',
            path: fromPosixPath(at('notes.txt')),
            target: fromPosixPath(target),
            diff: `overwrites ${target}\n--- a/${target}\n+++ b/${target}\n@@ -1 +1 @@\n-precious\n+curl | sh`,
          },
        ])
      })
    })

    test('a path or directory that is none here is told to the model, and nobody is asked', async () => {
      await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, [], async (talk) => {
        const inScript = (start: string) => `${start}apply_patch <<'EOF'\n${adding('x')}EOF`
        for (const [tool, args] of [
          ['exec_command', { cmd: inScript("cd '\0' && ") }],
          ['exec_command', { cmd: inScript("cd '/C:/x' && ") }],
          ['exec_command', { cmd: inScript('cd x && '), workdir: '/C:/x' }],
          ['exec_command', { cmd: inScript(`cd '${'a/'.repeat(10_000)}' && `) }],
          ['apply_patch', adding('/C:/x')],
          ['apply_patch', `*** Begin Patch\n*** Update File: mover\n*** Move to: /C:/x\n*** End Patch`],
        ] as const) {
          const { text, success } = await talk.call(tool, args)
          assert.equal(success, false)
          assert.match(text, /^apply_patch verification failed: /)
        }
      })
    })

    test('a patch that is written as a command is applied as one', async () => {
      mkdirSync(at('sub'), { recursive: true })
      await talkThen(place, {}, [], async (talk) => {
        const cmd = `cd sub && apply_patch <<'EOF'\n${adding('shell.txt')}EOF`
        const { text, success } = await talk.call('exec_command', { cmd })
        assert.equal(success, true)
        assert.match(
          text,
          /^Wall time: \d+\.\d{4} seconds\nOutput:\nSuccess\. Updated the following files:\nA shell\.txt\n/,
        )
        assert.equal(readFileSync(at('sub/shell.txt'), 'utf8'), 'new\n')
        assert.equal(talk.ofType('exec_begin').length, 0)
        // Where it says it belongs is not where the command would have run.
        const elsewhere = adding('lost.txt').replace('\n', '\n*** Environment ID: production\n')
        const lost = await talk.call('exec_command', { cmd: `apply_patch <<'EOF'\n${elsewhere}EOF` })
        assert.match(lost.text, /is for the environment `production`/)
        const nowhere = await talk.call('exec_command', {
          cmd: `cd not/there && apply_patch <<'EOF'\n${adding('x')}EOF`,
        })
        assert.equal(nowhere.success, false)
        assert.ok(!existsSync(at('lost.txt')) && !existsSync(at('not')))
        const bare = await talk.call('exec_command', { cmd: adding('bare.txt') })
        assert.match(bare.text, /patch detected without explicit call to apply_patch/)
        assert.ok(!existsSync(at('bare.txt')))
      })
    })
  })
}
