import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sandboxProfiles } from '@waldo/environment'
import { local } from '@waldo/sdk'
import { Approvals } from '../approvals/approvals.ts'
import { Pauses } from '../approvals/pauses.ts'
import type { ReviewDecision } from '../approvals/review-decision.ts'
import { scriptedApprover } from '../approvals/scripted-approver.ts'
import { EventHub } from '../events/event-hub.ts'
import type { ExecEvent } from '../events/exec-event.ts'
import { NetworkApprovals } from './network-approvals.ts'

const executable = fileURLToPath(new URL('../../../../waldo', import.meta.url))
const stateDir = mkdtempSync(join(tmpdir(), 'waldo-network-'))
after(() => rmSync(stateDir, { recursive: true, force: true }))

async function startOrigin() {
  let visits = 0
  const server = createServer((_, response) => {
    visits++
    response.end('origin')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits: () => visits,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Asks the proxy, and prints what comes back. Nothing has to be installed. */
const get = (host: string) => {
  const request = `GET http://${host}/ HTTP/1.1\\r\\nhost: ${host}\\r\\nconnection: close\\r\\n\\r\\n`
  return `exec 3<>/dev/tcp/127.0.0.1/\${HTTP_PROXY##*:}; printf '${request}' >&3; cat <&3; echo`
}

/** Runs scripts in a sandbox on this machine, in one conversation. */
function conversation(answers: readonly ReviewDecision[]) {
  const fail = (error: unknown) => assert.fail(String(error))
  const events = new EventHub(fail)
  const decided: ExecEvent[] = []
  events.on((event) => {
    if (event.type === 'network_decided') decided.push(event)
  })
  const person = scriptedApprover(answers)
  const approvals = new Approvals({ approvers: [person], events, pauses: new Pauses() })
  const network = new NetworkApprovals({ approvals, events, saveRule: async () => {}, failed: fail })
  const environment = local({ runtime: { executable, stateDir } })
  const run = async (script: string, domains: Record<string, 'allow' | 'deny'> = {}) => {
    const command = ['bash', '-c', script]
    const execution = network.forExecution({
      ...{ callId: 'call-1', turnId: 'turn-1', environmentId: environment.id, command, domains },
      ...{ approvalPolicy: 'on-request', sandbox: { kind: 'inside' }, allowLocalBinding: true },
      signal: new AbortController().signal,
    })
    const sandbox = sandboxProfiles.readOnly()
    const process = await environment.processes.start(command, { sandbox, network: execution.network })
    const denied = new Promise<void>((resolve) => execution.onDenied(() => resolve()))
    return { process, execution, denied }
  }
  return { run, person, decided, [Symbol.asyncDispose]: () => environment.close() }
}

describe('a command in a sandbox', () => {
  test('waits while somebody is asked about a host, and reaches it from then on', async () => {
    await using origin = await startOrigin()
    await using conversing = conversation([{ kind: 'approved_for_session' }])
    for (let time = 1; time <= 2; time++) {
      const { process, execution } = await conversing.run(get(origin.host))
      assert.match(await process.text(), /200 OK.*origin/s)
      assert.equal(execution.denial(), undefined)
      assert.equal(origin.visits(), time)
    }
    assert.equal(conversing.person.asked.length, 1)
    assert.equal(conversing.decided.length, 2)
  })

  test('is not let through when somebody says no, and can be ended with their words', async () => {
    await using origin = await startOrigin()
    await using conversing = conversation([{ kind: 'denied', rejection: 'not from here' }])
    const { process, execution, denied } = await conversing.run(`${get(origin.host)}; sleep 600`)
    await denied
    await process.terminate()
    assert.match(await process.text(), /^(?!.*not from here)/s)
    assert.equal(execution.denial(), `Network access to "http://${origin.host}" was denied: not from here`)
    assert.equal(origin.visits(), 0)
  })

  test('is not even asked about where a rule denies it', async () => {
    await using conversing = conversation([])
    const { process, execution, denied } = await conversing.run(`${get('denied.test')}; sleep 600`, {
      'denied.test': 'deny',
    })
    await denied
    await process.terminate()
    await process.wait()
    assert.match(execution.denial() ?? '', /"denied.test" was blocked: a rule denies this host/)
    assert.equal(conversing.person.asked.length, 0)
  })
})
