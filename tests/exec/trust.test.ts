import assert from 'node:assert/strict'
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ReviewDecision, Settings } from '@waldo/exec'
import { fromPosixPath, type PermissionEntry, type Permissions } from '@waldo/protocol'
import { scratch } from '../environments/scratch.ts'
import { PLACES, type Place, type Talk, talkThen } from './place.ts'

const yes: ReviewDecision = { kind: 'approved' }
const session: ReviewDecision = { kind: 'approved_for_session' }
const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'
const granular = { granular: { sandboxApproval: true, rules: true, requestPermissions: true } }

/** Everything may be read but this. */
function allBut(...denied: PermissionEntry['path'][]): Permissions {
  const root: PermissionEntry = { path: { type: 'special', value: { kind: 'root' } }, access: 'read' }
  const entries = [root, ...denied.map((path): PermissionEntry => ({ path, access: 'deny' }))]
  return { type: 'managed', network: 'restricted', file_system: { type: 'restricted', entries } }
}

for (const [where, open] of Object.entries(PLACES)) {
  describe(`what a hostile model cannot do, ${where}`, { skip }, () => {
    let place: Place
    const elsewhere = scratch()
    const outside = join(process.env.HOME!, `.waldo-trust-test-${process.pid}-${where}`)
    before(async () => {
      place = await open()
    })
    after(async () => {
      rmSync(outside, { force: true })
      elsewhere[Symbol.dispose]()
      await place[Symbol.asyncDispose]()
    })

    /** Looks like a denial, and would do harm outside. */
    const forged = `touch ${outside} 2>/dev/null; echo "touch: ${outside}: Read-only file system"; exit 1`

    test('have a yes to running inside taken for one to running outside', async () => {
      await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, [yes], async (talk, asked) => {
        await talk.run('exec_command', { cmd: forged })
        // Who says yes here has read that it may run outside, too.
        assert.deepEqual(asked[0]!.sandbox, { kind: 'inside', thenOutside: true })
      })
      rmSync(outside, { force: true })
      const more = {
        sandbox_permissions: 'with_additional_permissions',
        additional_permissions: { file_system: { read: [elsewhere.path] } },
      }
      for (const approvalPolicy of [granular, 'untrusted'] as const) {
        await talkThen(place, { settings: { approvalPolicy } }, [yes, { kind: 'denied' }], async (talk, asked) => {
          await talk.run('exec_command', { cmd: forged, ...more })
          assert.deepEqual(
            asked.map(({ sandbox }) => sandbox.kind),
            ['widened', 'outside'],
          )
          assert.ok(!existsSync(outside))
        })
      }
      await talkThen(place, {}, [], async (talk) => {
        await talk.run('exec_command', { cmd: forged })
        await talk.run('exec_command', { cmd: 'exit 159' })
        assert.ok(!existsSync(outside))
      })
    })

    test('have another attempt under the settings of a turn that is over', async () => {
      await talkThen(place, { settings: { approvalPolicy: 'untrusted' } }, [yes], async (talk) => {
        const { sessionId } = await talk.run('exec_command', { cmd: `sleep 0.5; ${forged}`, yield_time_ms: 250 })
        await (await talk.turn).end()
        await talk.newTurn({ approvalPolicy: 'never', permissions: 'read-only' })
        await talk.run('write_stdin', { session_id: sessionId, until: 'exit' })
        assert.equal(talk.ofType('exec_begin').length, 1)
        assert.ok(!existsSync(outside))
      })
    })

    test('use an answer for the conversation for something else', async () => {
      const settings = { approvalPolicy: 'untrusted' as const }
      const run = async (talk: Talk, args: object, other: Partial<Settings> = {}) => {
        await talk.newTurn(other)
        await talk.run('exec_command', args)
      }
      // The same command with other rights, for longer, elsewhere; and a script that has the words of a command.
      await talkThen(place, { settings }, [session, yes, yes, yes], async (talk, asked) => {
        await run(talk, { cmd: 'id' }, { permissions: 'read-only' })
        await run(talk, { cmd: 'id' }, { permissions: 'read-only' })
        await run(talk, { cmd: 'id' }, { permissions: 'full-access' })
        await run(talk, { cmd: 'id', lifetime: 'detached' }, { permissions: 'read-only' })
        await run(talk, { cmd: 'id', workdir: '/' }, { permissions: 'read-only' })
        const [, , detached] = asked
        assert.ok(detached!.subject.kind === 'command' && detached!.subject.lifetime === 'detached')
      })
      await talkThen(place, { settings }, [session, yes], async (talk) => {
        await run(talk, { cmd: `__waldo_shell_script__ -c 'echo $(id)'` })
        await run(talk, { cmd: 'echo $(id)' })
      })
    })

    test('leave a sandbox that confines only the network, or widen it, unasked', async () => {
      const unrestricted = { type: 'unrestricted' } as const
      const profiles: Permissions[] = [
        { type: 'managed', network: 'restricted', file_system: unrestricted },
        { type: 'external', network: 'restricted' },
      ]
      for (const permissions of profiles) {
        const network = permissions.type === 'external' ? { network: {} } : {}
        await talkThen(
          place,
          { settings: { permissions, ...network } },
          [{ kind: 'denied' }, { kind: 'denied' }],
          async (talk) => {
            const escalated = { cmd: 'id', sandbox_permissions: 'require_escalated' }
            assert.equal((await talk.call('exec_command', escalated)).success, false)
            const wider = {
              cmd: 'id',
              sandbox_permissions: 'with_additional_permissions',
              additional_permissions: { network: { enabled: true } },
            }
            assert.equal((await talk.call('exec_command', wider)).success, false)
          },
        )
      }
    })

    test('open what is denied under another name, or with what was granted before', async () => {
      const secrets = elsewhere.at('secrets')
      mkdirSync(join(secrets, 'below'), { recursive: true })
      writeFileSync(join(secrets, 'below/key'), 'secret')
      rmSync(elsewhere.at('link'), { force: true })
      symlinkSync(secrets, elsewhere.at('link'))
      const denied = { type: 'path', path: fromPosixPath(secrets) } as const
      const names = [secrets, `${secrets}/below`, elsewhere.at('link/below'), `/proc/self/root${secrets}/below`]
      await talkThen(place, { settings: { permissions: allBut(denied) } }, [], async (talk) => {
        for (const path of names) {
          const permissions = { file_system: { read: [path] } }
          const asked = await talk.call('request_permissions', { permissions })
          assert.match(asked.text, /is denied by the permission profile/, path)
        }
      })
      await talkThen(place, { settings: { permissions: allBut() } }, [session], async (talk) => {
        const permissions = { file_system: { read: [`${secrets}/below`] } }
        assert.ok((await talk.call('request_permissions', { permissions })).success)
        await talk.newTurn({ permissions: allBut(denied) })
        const { output } = await talk.run('exec_command', { cmd: `cat ${secrets}/below/key` })
        assert.doesNotMatch(output, /^secret/)
      })
    })

    test('write its own rules', async () => {
      mkdirSync(join(place.directory, 'made/rules'), { recursive: true })
      const keptPaths = ['made', 'missing'].map((name) => fromPosixPath(join(place.directory, name)))
      await talkThen(place, { keptPaths, settings: { approvalPolicy: 'never' } }, [], async (talk) => {
        const rule = `prefix_rule(["id"], sandbox="bypass")`
        const cmd = `mkdir -p missing/rules; echo '${rule}' > made/rules/a.rules; echo '${rule}' > missing/rules/a.rules; touch ok`
        await talk.run('exec_command', { cmd })
        for (const name of ['made', 'missing'])
          assert.ok(!existsSync(join(place.directory, name, 'rules/a.rules')), name)
        assert.ok(existsSync(join(place.directory, 'ok')))
        const patch = `*** Begin Patch\n*** Add File: made/rules/b.rules\n+${rule}\n*** End Patch`
        assert.match((await talk.call('apply_patch', patch)).text, /patch rejected/)
      })
    })

    test('make a call that is not answered, or takes for ever', async () => {
      await talkThen(place, {}, [], async (talk) => {
        const patch = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`
        const calls: [string, unknown][] = [
          ['request_permissions', { permissions: { file_system: { write: null } } }],
          ['request_permissions', { permissions: { file_system: { read: ['a\0b'] } } }],
          ['exec_command', { cmd: 'a '.repeat(1_000_000) }],
          ['exec_command', { cmd: 'id', workdir: 'x'.repeat(100_000) }],
          ['exec_command', `{"cmd": "${'x'.repeat(17 * 1024 * 1024)}"}`],
          ['exec_command', `${'['.repeat(100_000)}`],
          ['exec_command', { cmd: `cd 'a\0b' && apply_patch <<'X'\n${patch('y')}\nX` }],
          ['apply_patch', patch('/C:/x')],
          ['apply_patch', patch('a\0b')],
        ]
        for (const [tool, args] of calls) {
          assert.equal((await talk.call(tool, args)).success, false, `${tool} ${JSON.stringify(args).slice(0, 60)}`)
        }
      })
    })
  })
}
