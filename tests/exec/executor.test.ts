import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  Executor,
  type ExecutorConfig,
  normalizeResult,
  type ReviewDecision,
  ScriptParser,
  scriptedApprover,
} from '@waldo/exec'
import { grammarFiles } from '@waldo/exec/node'
import { type PathUri, pathUri } from '@waldo/protocol'
import { PLACES, type Place } from './place.ts'

const yes: ReviewDecision = { kind: 'approved' }
const skip = process.platform === 'linux' ? false : 'executors have a sandbox on Linux only'

for (const [where, open] of Object.entries(PLACES)) {
  describe(`an executor of one command after the other, ${where}`, { skip }, () => {
    let place: Place
    let cwd: PathUri
    const outside = join(process.env.HOME!, `.waldo-executor-test-${process.pid}-${where}`)
    before(async () => {
      place = await open()
      cwd = pathUri(`file://${place.directory}`)
    })
    after(async () => {
      rmSync(outside, { force: true })
      await place[Symbol.asyncDispose]()
    })

    function executor(config: Partial<ExecutorConfig>, answers: ReviewDecision[] = []) {
      const approver = scriptedApprover(answers)
      const own = new Executor(
        { approvalPolicy: 'on-request', permissions: 'workspace', cwd, ...config },
        {
          environment: place.environment,
          approvers: [approver],
          scripts: new ScriptParser(grammarFiles),
        },
      )
      const shell = (script: string, more: object = {}) =>
        own.run({ mode: 'shell', callId: 'c', turnId: 't', cwd, argv: ['/bin/sh', '-c', script], ...more })
      return { own, shell, asked: approver.asked }
    }

    test('what a command says and how it ends', async () => {
      const { shell } = executor({})
      const chunks: string[] = []
      const onOutput = (stream: string, data: Uint8Array) => chunks.push(`${stream}: ${Buffer.from(data)}`)
      const output = normalizeResult(await shell('echo out; echo err >&2; exit 4', { onOutput }))
      const { exitCode, stdout, stderr, timedOut } = output
      assert.deepEqual([exitCode, stdout, stderr, timedOut], [4, 'out\n', 'err\n', false])
      assert.deepEqual(chunks.sort(), ['stderr: err\n', 'stdout: out\n'])
    })

    test('a command that takes too long keeps what it has said', async () => {
      const { shell } = executor({})
      const result = await shell('echo begun; sleep 60', { timeoutMs: 500 })
      assert.ok(result.kind === 'failed' && result.failure.kind === 'timed-out')
      const { exitCode, stdout, timedOut } = normalizeResult(result)
      assert.deepEqual([exitCode, stdout, timedOut], [124, 'begun\n', true])
    })

    test('a rejection and any other error look like a command that failed', async () => {
      const { shell } = executor({ approvalPolicy: 'untrusted' }, [{ kind: 'denied' }])
      const message = 'exec command rejected by user'
      const rejected = {
        exitCode: -1,
        stdout: '',
        stderr: message,
        aggregated: message,
        durationMs: 0,
        timedOut: false,
      }
      assert.deepEqual(normalizeResult(await shell('id')), rejected)
      const { own } = executor({ permissions: 'full-access' })
      const request = { mode: 'shell', callId: 'c', turnId: 't', cwd, argv: ['/no/such/program'] } as const
      const { exitCode, stderr, aggregated } = normalizeResult(await own.run(request))
      assert.equal(exitCode, -1)
      assert.match(stderr, /no such file/i)
      assert.equal(aggregated, stderr)
    })

    test('what is approved runs without sandbox; for the session, it is not asked about again', async () => {
      const { shell, asked } = executor({ approvalPolicy: 'untrusted' }, [{ kind: 'approved_for_session' }, yes])
      for (let i = 0; i < 2; i++) {
        assert.equal(normalizeResult(await shell(`touch ${outside} && rm ${outside}`)).exitCode, 0)
      }
      assert.equal(asked.length, 1)
      assert.equal(normalizeResult(await shell('true')).exitCode, 0)
      assert.equal(asked.length, 2)
    })

    test('after a denial on-failure asks a second time, and others do not', async () => {
      const failing = executor({ approvalPolicy: 'on-failure' }, [yes, { kind: 'denied' }])
      assert.equal(normalizeResult(await failing.shell(`touch ${outside} && rm ${outside}`)).exitCode, 0)
      assert.equal(failing.asked[0]!.reason, 'command failed; retry without sandbox?')
      const refused = await failing.shell(`touch ${outside}`)
      assert.equal(normalizeResult(refused).stderr, 'exec command rejected by user')
      assert.ok(!existsSync(outside))
      const denied = await executor({}).shell(`touch ${outside}`)
      assert.ok(denied.kind === 'failed' && denied.failure.kind === 'denied')
      assert.match(normalizeResult(denied).aggregated, /Read-only file system/)
    })

    test('a config that changes does not change what runs', async () => {
      const { own, shell } = executor({ permissions: 'read-only' })
      const running = shell('sleep 0.3; echo x > written')
      own.update({ approvalPolicy: 'never', permissions: 'full-access', cwd })
      assert.notEqual(normalizeResult(await running).exitCode, 0)
      assert.equal(normalizeResult(await shell('echo x > written')).exitCode, 0)
    })

    test('a patch is applied in its sandbox, or without if it was approved', async () => {
      const patch = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch`
      const { own } = executor({})
      const apply = async (path: string, isApproved: boolean) =>
        normalizeResult(await own.run({ mode: 'patch', callId: 'c', turnId: 't', cwd, patch: patch(path), isApproved }))
      assert.deepEqual((await apply('in.txt', false)).exitCode, 0)
      assert.equal(readFileSync(join(place.directory, 'in.txt'), 'utf8'), 'x\n')
      assert.equal((await apply(outside, false)).exitCode, -1)
      assert.ok(!existsSync(outside))
      assert.equal((await apply(outside, true)).exitCode, 0)
      rmSync(outside)
    })
  })
}
