import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type ReviewDecision, TurnAborted } from '@waldo/exec'
import { scratch } from '../environments/scratch.ts'
import { PLACES, type Place, Talk, talkThen } from './place.ts'

const yes: ReviewDecision = { kind: 'approved' }
const session: ReviewDecision = { kind: 'approved_for_session' }
const granular = { granular: { sandboxApproval: true, rules: true, requestPermissions: true } }
const strict = { granular: { sandboxApproval: false, rules: false, requestPermissions: false } }
const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'

for (const [where, open] of Object.entries(PLACES)) {
  describe(`what a command goes through, ${where}`, { skip }, () => {
    let place: Place
    const outside = scratch()
    let file = 0
    /** Somewhere that the workspace profile does not let anybody write. */
    const forbidden = () => join(process.env.HOME!, `.waldo-exec-test-${process.pid}-${where}-${++file}`)
    before(async () => {
      place = await open()
    })
    after(async () => {
      await place[Symbol.asyncDispose]()
      outside[Symbol.dispose]()
    })

    describe('under on-request', () => {
      test('a plain command runs in the sandbox, unasked, and what is denied stays so', async () => {
        const path = forbidden()
        await talkThen(place, {}, [], async (talk) => {
          const { exitCode, notes } = await talk.run('exec_command', { cmd: `echo x > ${path}` })
          assert.notEqual(exitCode, 0)
          assert.match(notes.join('\n'), /Sandbox: denied write/)
          assert.ok(!existsSync(path))
          assert.deepEqual(
            talk.ofType('sandbox_outcome').map(({ outcome }) => outcome),
            ['denied'],
          )
          assert.deepEqual(
            talk.ofType('approval_decided').map(({ source }) => source),
            ['config'],
          )
        })
      })

      test('a command that asks to leave the sandbox does so if it is allowed to', async () => {
        const path = forbidden()
        const args = {
          cmd: `echo x > ${path}; rm ${path} && echo done`,
          sandbox_permissions: 'require_escalated',
          justification: 'Write there?',
        }
        await talkThen(place, {}, [yes], async (talk, asked) => {
          assert.equal((await talk.run('exec_command', args)).output, 'done\n')
          const [{ subject, sandbox, reason, justification, why }] = asked as [(typeof asked)[0]]
          assert.deepEqual(sandbox, { kind: 'outside' })
          assert.deepEqual([reason, justification], [undefined, 'Write there?'])
          assert.ok(why.length > 0)
          assert.ok(subject.kind === 'command' && subject.argv.at(-1) === args.cmd)
        })
      })

      test('a no is told to the model, with what was said', async () => {
        const path = forbidden()
        const args = { cmd: `touch ${path}`, sandbox_permissions: 'require_escalated' }
        await talkThen(place, {}, [{ kind: 'denied', rejection: 'not in my home' }], async (talk) => {
          const { text, success } = await talk.call('exec_command', args)
          assert.equal(success, false)
          assert.match(text, /not in my home/)
          assert.ok(!existsSync(path))
        })
      })

      test('an answer for the conversation holds for the same command, and not for another', async () => {
        const call = (cmd: string) => ({ cmd, sandbox_permissions: 'require_escalated' })
        await talkThen(place, {}, [session, yes], async (talk) => {
          for (const cmd of ['id -u', 'id  -u', "id '-u'", 'id -g']) {
            const { exitCode } = await talk.run('exec_command', call(cmd))
            assert.equal(exitCode, 0)
          }
        })
      })

      test('a dangerous command is asked about, and still runs in the sandbox', async () => {
        const path = forbidden()
        await talkThen(place, {}, [yes], async (talk, asked) => {
          const { exitCode } = await talk.run('exec_command', { cmd: `rm -rf nothing-here && touch ${path}` })
          assert.notEqual(exitCode, 0)
          assert.ok(!existsSync(path))
          assert.deepEqual(asked[0]!.sandbox, { kind: 'inside' })
          assert.ok(asked[0]!.why.some(({ source }) => source === 'dangerous'))
        })
      })

      test('more is allowed inside if that is asked for', async () => {
        const path = outside.at('wider')
        const args = {
          cmd: `echo x > ${path}`,
          sandbox_permissions: 'with_additional_permissions',
          additional_permissions: { file_system: { write: [outside.path] } },
        }
        const settings = { permissions: 'read-only' as const }
        await talkThen(place, { settings }, [yes], async (talk, asked) => {
          assert.equal((await talk.run('exec_command', args)).exitCode, 0)
          assert.equal(readFileSync(path, 'utf8'), 'x\n')
          assert.equal(asked[0]!.sandbox.kind, 'widened')
          const [begin] = talk.ofType('exec_begin')
          assert.ok(begin!.sandboxed)
        })
      })

      test('what was granted ahead is not asked about again, and ends with the turn', async () => {
        const path = outside.at('granted')
        const permissions = { file_system: { write: [outside.path] } }
        const settings = { permissions: 'read-only' as const }
        await talkThen(place, { settings }, [yes], async (talk) => {
          assert.equal(
            (await talk.call('request_permissions', { permissions, reason: 'for the report' })).success,
            true,
          )
          assert.equal((await talk.run('exec_command', { cmd: `echo 1 > ${path}` })).exitCode, 0)
          const inline = { sandbox_permissions: 'with_additional_permissions', additional_permissions: permissions }
          assert.equal((await talk.run('exec_command', { cmd: `echo 2 > ${path}`, ...inline })).exitCode, 0)
          await (await talk.turn).end()
          await talk.newTurn()
          assert.notEqual((await talk.run('exec_command', { cmd: `echo 3 > ${path}` })).exitCode, 0)
        })
      })

      test('an answer that stops the turn stops it', async () => {
        await talkThen(place, {}, [{ kind: 'abort' }], async (talk) => {
          const args = { cmd: 'id', sandbox_permissions: 'require_escalated' }
          await assert.rejects(talk.call('exec_command', args), TurnAborted)
          assert.ok((await talk.turn).signal.aborted)
          const { text, success } = await talk.call('exec_command', { cmd: 'id' })
          assert.equal(success, false)
          assert.match(text, /aborted by user/)
        })
      })

      test('a turn that is interrupted while somebody is asked takes the question back', async () => {
        await using talk = new Talk(place, {
          settings: { permissions: 'workspace' },
          approvers: [
            {
              source: 'user',
              ask: (_, signal) =>
                new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
            },
          ],
        })
        const answer = talk.call('exec_command', { cmd: 'id', sandbox_permissions: 'require_escalated' })
        const stop = talk.conversation.onEvent(
          ({ type }) => type === 'approval_asked' && void talk.turn.then((turn) => turn.interrupt()),
        )
        assert.match((await answer).text, /aborted by user/)
        stop()
        assert.deepEqual(
          talk.ofType('approval_decided').map(({ decision }) => decision.kind),
          ['abort'],
        )
        assert.deepEqual(talk.ofType('exec_begin'), [])
      })

      test('nobody to ask means no', async () => {
        await using talk = new Talk(place, { settings: { permissions: 'workspace' } })
        const { text, success } = await talk.call('exec_command', {
          cmd: 'id',
          sandbox_permissions: 'require_escalated',
        })
        assert.equal(success, false)
        assert.match(text, /nobody/i)
      })
    })

    describe('under never', () => {
      const settings = { approvalPolicy: 'never' as const }
      test('commands run in the sandbox, and nobody is asked about leaving it', async () => {
        await talkThen(place, { settings }, [], async (talk) => {
          assert.equal((await talk.run('exec_command', { cmd: 'echo x > here; cat here' })).output, 'x\n')
          const { text, success } = await talk.call('exec_command', {
            cmd: 'id',
            sandbox_permissions: 'require_escalated',
          })
          assert.equal(success, false)
          assert.match(text, /approval policy is never; reject command/)
        })
      })

      test('what is dangerous is refused', async () => {
        await talkThen(place, { settings }, [], async (talk) => {
          const { text, success } = await talk.call('exec_command', { cmd: 'rm -rf here' })
          assert.equal(success, false)
          assert.match(text, /rejected/)
        })
      })
    })

    describe('under untrusted', () => {
      const settings = { approvalPolicy: 'untrusted' as const }
      test('a yes covers another attempt without sandbox', async () => {
        const path = forbidden()
        await talkThen(place, { settings }, [yes], async (talk) => {
          const { output } = await talk.run('exec_command', { cmd: `echo x > ${path} && rm ${path} && echo done` })
          assert.equal(output, 'done\n')
          assert.deepEqual(
            talk.ofType('exec_begin').map(({ sandboxed, attempt }) => ({ sandboxed, attempt })),
            [
              { sandboxed: true, attempt: 1 },
              { sandboxed: false, attempt: 2 },
            ],
          )
          assert.deepEqual(
            talk.ofType('sandbox_outcome').map(({ outcome }) => outcome),
            ['escalated'],
          )
        })
      })

      test('a command that fails by itself is not tried again', async () => {
        await talkThen(place, { settings }, [yes], async (talk) => {
          const cmd = 'echo "Operation not permitted: permission denied in the sandbox" >&2; exit 1'
          assert.equal((await talk.run('exec_command', { cmd })).exitCode, 1)
          assert.equal(talk.ofType('exec_begin').length, 1)
        })
      })

      test('what must not be read stays so: there is no attempt without sandbox', async () => {
        const secret = outside.at('secret')
        const permissions = {
          type: 'managed' as const,
          network: 'restricted' as const,
          file_system: {
            type: 'restricted' as const,
            entries: [
              { path: { type: 'special' as const, value: { kind: 'root' as const } }, access: 'read' as const },
              { path: { type: 'path' as const, path: `file://${secret}` as never }, access: 'deny' as const },
            ],
          },
        }
        const path = forbidden()
        await talkThen(place, { settings: { ...settings, permissions } }, [yes], async (talk) => {
          assert.notEqual((await talk.run('exec_command', { cmd: `touch ${path}` })).exitCode, 0)
          assert.equal(talk.ofType('exec_begin').length, 1)
        })
        // To leave means everything but that.
        await talkThen(
          place,
          { settings: { approvalPolicy: 'on-request', permissions } },
          [yes],
          async (talk, asked) => {
            const args = {
              cmd: `touch ${path} && rm ${path} && cat ${secret}`,
              sandbox_permissions: 'require_escalated',
            }
            const { exitCode, notes } = await talk.run('exec_command', args)
            assert.notEqual(exitCode, 0)
            assert.match(notes.join('\n'), /but for what must not be read/)
            assert.deepEqual(asked[0]!.sandbox, { kind: 'outside-but-denials', denied: [`file://${secret}`] })
          },
        )
      })
    })

    describe('under granular', () => {
      test('somebody is asked about another attempt, and a no leaves the denial as it is', async () => {
        const path = forbidden()
        const settings = { approvalPolicy: granular }
        await talkThen(place, { settings }, [{ kind: 'denied' }], async (talk, asked) => {
          const { exitCode, output, notes } = await talk.run('exec_command', { cmd: `echo first; touch ${path}` })
          assert.notEqual(exitCode, 0)
          assert.match(output, /^first\n/)
          assert.match(notes.join('\n'), /without sandbox, was rejected: rejected by user/)
          assert.ok(asked[0]!.isRetry)
          assert.equal(asked[0]!.reason, 'command failed; retry without sandbox?')
        })
        await talkThen(place, { settings }, [yes], async (talk) => {
          assert.equal((await talk.run('exec_command', { cmd: `touch ${path} && rm ${path}` })).exitCode, 0)
        })
      })

      test('a denial after the answer is offered for another attempt when it is seen', async () => {
        const path = forbidden()
        await talkThen(place, { settings: { approvalPolicy: granular } }, [yes], async (talk) => {
          const cmd = `echo begun; sleep 1; touch ${path} && rm ${path} && echo done`
          const { sessionId, output } = await talk.run('exec_command', { cmd, yield_time_ms: 250 })
          assert.equal(output, 'begun\n')
          const later = await talk.run('write_stdin', { session_id: sessionId, until: 'exit' })
          // The second attempt has the number of the first, and a wait of its own.
          if (later.sessionId !== undefined) {
            assert.equal(later.sessionId, sessionId)
            const end = await talk.run('write_stdin', { session_id: sessionId, until: 'exit' })
            assert.equal(`${later.output}${end.output}`, 'begun\ndone\n')
          } else assert.equal(later.output, 'begun\ndone\n')
          assert.deepEqual(
            talk.ofType('exec_begin').map(({ sandboxed }) => sandboxed),
            [true, false],
          )
        })
      })

      test('what may not be asked about is refused', async () => {
        await talkThen(place, { settings: { approvalPolicy: strict } }, [], async (talk) => {
          for (const args of [{ cmd: 'id', sandbox_permissions: 'require_escalated' }, { cmd: 'rm -f here' }]) {
            assert.equal((await talk.call('exec_command', args)).success, false, args.cmd)
          }
          const { text } = await talk.call('request_permissions', { permissions: { network: { enabled: true } } })
          assert.match(text, /nobody may be asked/)
        })
      })
    })

    describe('with rules', () => {
      test('an allow rule keeps the sandbox, one that says so leaves it', async () => {
        const path = forbidden()
        for (const [rules, code] of [
          ['prefix_rule(["touch"])', 1],
          ['prefix_rule(["touch"], sandbox="bypass")\nprefix_rule(["rm"], sandbox="bypass")', 0],
        ] as const) {
          await talkThen(place, { rules }, [], async (talk) => {
            assert.equal((await talk.run('exec_command', { cmd: `touch ${path} && rm ${path}` })).exitCode, code)
          })
        }
      })

      test('a rule that asks is told with its reason, one that forbids with its own', async () => {
        const rules = `
prefix_rule(["id"], decision="prompt", justification="who are you is private")
prefix_rule(["whoami"], decision="forbidden", justification="never ask that")`
        await talkThen(place, { rules }, [yes], async (talk, asked) => {
          assert.equal((await talk.run('exec_command', { cmd: 'id' })).exitCode, 0)
          assert.match(asked[0]!.reason!, /who are you is private/)
          const { text, success } = await talk.call('exec_command', { cmd: 'true && whoami' })
          assert.equal(success, false)
          assert.match(text, /never ask that/)
        })
      })

      test('a rule that somebody adds silences the question from then on', async () => {
        const amend = {
          kind: 'approved_execpolicy_amendment',
          amendment: { prefix: ['uname', '-s'] },
          scope: 'project',
        } as const
        await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, [amend], async (talk, asked) => {
          const args = { cmd: 'uname -s', prefix_rule: ['uname', '-s'] }
          assert.equal((await talk.run('exec_command', args)).exitCode, 0)
          assert.deepEqual(asked[0]!.amendment?.prefix, ['uname', '-s'])
          assert.deepEqual(talk.saved, ['project: prefix_rule(pattern=["uname", "-s"], decision="allow")'])
          assert.equal((await talk.run('exec_command', { cmd: 'uname -s' })).exitCode, 0)
        })
      })
    })

    test('a call that makes no sense is told what is wrong with it', async () => {
      await using talk = new Talk(place)
      const wrong: [string, unknown, RegExp][] = [
        ['exec_command', '{"cmd": ', /failed to parse function arguments/],
        ['exec_command', {}, /missing field `cmd`/],
        ['exec_command', { cmd: 1 }, /cmd: expected a string, got a number/],
        ['exec_command', { cmd: 'id', colour: 'red' }, /unknown field `colour`/],
        ['exec_command', { cmd: 'id', environment_id: 'mars' }, /unknown turn environment id `mars`/],
        ['exec_command', { cmd: 'id', workdir: 'a\0b' }, /workdir/],
        ['exec_command', { cmd: 'id', workdir: '/not/there' }, /exec_command failed for/],
        ['exec_command', { cmd: 'id', login: true }, /login/],
        ['exec_command', { cmd: 'id', shell: 'fish' }, /only supports/],
        ['exec_command', { cmd: 'id', justification: 'so' }, /requires an explicit `sandbox_permissions`/],
        [
          'exec_command',
          { cmd: 'id', sandbox_permissions: 'with_additional_permissions' },
          /missing `additional_permissions`/,
        ],
        [
          'exec_command',
          { cmd: 'id', additional_permissions: { network: { enabled: true } } },
          /requires `sandbox_permissions`/,
        ],
        ['exec_command', { cmd: 'id', sandbox_permissions: 'all' }, /unknown variant `all`/],
        ['write_stdin', { session_id: 7 }, /Unknown process id 7/],
        ['write_stdin', { session_id: '7' }, /session_id: expected a number/],
        ['format_disk', {}, /unsupported call: format_disk/],
      ]
      for (const [tool, args, message] of wrong) {
        const { text, success } = await talk.call(tool, args)
        assert.equal(success, false, JSON.stringify(args))
        assert.match(text, message)
      }
      assert.equal(talk.ofType('exec_begin').length, 0)
    })
  })
}
