import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type ReviewDecision, scriptedApprover } from '@waldo/exec'
import { connect } from '@waldo/sdk'
import { startProxy } from '../environments/cutting-proxy.ts'
import { startExecutor } from '../environments/executors.ts'
import { scratch } from '../environments/scratch.ts'
import { PLACES, type Place, Talk } from './place.ts'

const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'

/** A wire that is cut again and again, and an executor behind it. */
async function cutPlace(): Promise<Place> {
  const home = scratch()
  const executor = await startExecutor()
  const proxy = await startProxy(executor.url, { min: 30, max: 300 })
  const environment = connect(proxy.url, { cwd: home.path })
  return {
    environment,
    directory: home.path,
    async [Symbol.asyncDispose]() {
      await environment.close()
      await proxy[Symbol.asyncDispose]()
      await executor[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    },
  }
}

const RULES = `
prefix_rule(["./install"], decision="allow", match=["./install --fast"])
prefix_rule(["git", "push"], decision="forbidden", justification="somebody else pushes")
prefix_rule(["date"], decision="prompt", justification="time is private")
`

for (const [where, open] of Object.entries({ ...PLACES, 'over a wire that is cut': cutPlace })) {
  describe(`a conversation, ${where}`, { skip }, () => {
    test('installs, runs, fails, is denied, escalates, is approved for the session and is not asked again', async () => {
      await using place = await open()
      const outside = join(process.env.HOME!, `.waldo-conversation-${process.pid}-${where.length}`)
      mkdirSync(outside)
      try {
        const session: ReviewDecision = { kind: 'approved_for_session' }
        const approver = scriptedApprover([
          session,
          { kind: 'approved' },
          { kind: 'approved' },
          { kind: 'denied', rejection: 'not now' },
        ])
        await using talk = new Talk(place, {
          approvers: [approver],
          settings: { permissions: 'workspace' },
          rules: RULES,
        })
        const asked = () => approver.asked.length
        const at = (name: string) => join(place.directory, name)
        writeFileSync(at('install'), '#!/bin/sh\nfor i in 1 2 3; do echo "step $i"; sleep 0.2; done\n', { mode: 0o755 })

        // Installs, by a rule, looking away while it does.
        const install = await talk.run('exec_command', { cmd: './install --fast', yield_time_ms: 250 })
        assert.ok(install.sessionId !== undefined)
        const rest = await talk.run('write_stdin', { session_id: install.sessionId, until: 'exit' })
        assert.equal(install.output + rest.output, 'step 1\nstep 2\nstep 3\n')
        assert.equal(rest.exitCode, 0)

        // Writes a program, runs it, fails, mends it, runs it again.
        const add = '*** Begin Patch\n*** Add File: run.sh\n+echo begun\n+exit 7\n*** End Patch'
        assert.equal((await talk.call('apply_patch', add)).success, true)
        const failed = await talk.run('exec_command', { cmd: 'sh run.sh' })
        assert.deepEqual([failed.output, failed.exitCode], ['begun\n', 7])
        const fix = '*** Begin Patch\n*** Update File: run.sh\n@@\n echo begun\n-exit 7\n+exit 0\n*** End Patch'
        assert.equal((await talk.call('apply_patch', fix)).success, true)
        assert.equal((await talk.run('exec_command', { cmd: 'sh run.sh' })).exitCode, 0)
        assert.equal(readFileSync(at('run.sh'), 'utf8'), 'echo begun\nexit 0\n')

        // A shell that stays.
        const shell = await talk.run('exec_command', { cmd: 'sh', tty: true, yield_time_ms: 250 })
        const write = (chars: string, match: string) =>
          talk.run('write_stdin', { session_id: shell.sessionId, chars, until: { match } })
        await write('stty -echo; LEFT=4; echo r"e"ady\n', '^ready')
        assert.match((await write('echo "it is $((LEFT * 10 + 2))"\n', '^it is')).output, /it is 42/)

        // Is denied, asks to leave, is allowed to for the session, and is not asked again.
        const cmd = `touch ${outside}/made && ls ${outside}`
        assert.notEqual((await talk.run('exec_command', { cmd })).exitCode, 0)
        assert.equal(asked(), 0)
        for (let i = 0; i < 2; i++) {
          const escalated = { cmd, sandbox_permissions: 'require_escalated', justification: 'May I?' }
          assert.equal((await talk.run('exec_command', escalated)).output, 'made\n')
        }
        assert.equal(asked(), 1)

        // What rules say.
        assert.equal((await talk.run('exec_command', { cmd: 'date > now.txt' })).exitCode, 0)
        assert.match(approver.asked[1]!.reason!, /time is private/)
        const push = await talk.call('exec_command', { cmd: 'git status && git push' })
        assert.match(push.text, /somebody else pushes/)

        // A patch outside, and one that is refused.
        const patch = (name: string) => `*** Begin Patch\n*** Add File: ${outside}/${name}\n+x\n*** End Patch`
        assert.equal((await talk.call('apply_patch', patch('a'))).success, true)
        assert.match((await talk.call('apply_patch', patch('b'))).text, /not now/)
        assert.equal(asked(), 4)

        const { ended, surviving } = await (await talk.turn).end()
        assert.deepEqual([ended, surviving.map(({ sessionId }) => sessionId)], [[], [shell.sessionId]])
        await talk.conversation.close()
        const ids = (type: 'exec_begin' | 'exec_end') =>
          talk
            .ofType(type)
            .map(({ sessionId }) => sessionId)
            .sort()
        assert.deepEqual(ids('exec_begin'), ids('exec_end'))
        assert.equal(talk.ofType('exec_end').find(({ sessionId }) => sessionId === shell.sessionId)!.state, 'killed')
      } finally {
        rmSync(outside, { recursive: true, force: true })
      }
    })
  })
}
