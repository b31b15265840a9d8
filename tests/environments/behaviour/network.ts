import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import {
  type Environment,
  type ManagedNetwork,
  type NetworkDecision,
  type NetworkRequest,
  sandboxProfiles,
} from '@waldo/environment'
import { fails, until } from '../collect.ts'
import type { Setting } from './setting.ts'

/** A server on the executor's machine. */
export async function startOrigin() {
  const visits: string[] = []
  const server = createServer((request, response) => {
    visits.push(request.url ?? '')
    response.end('origin')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Asks the proxy, as programs do that are told of it, and prints what comes back. Nothing has to be installed. */
export const get = (host: string) => {
  const request = `GET http://${host}/ HTTP/1.1\\r\\nhost: ${host}\\r\\nconnection: close\\r\\n\\r\\n`
  return `exec 3<>/dev/tcp/127.0.0.1/\${HTTP_PROXY##*:}; printf '${request}' >&3; cat <&3; echo`
}
const goTo = (host: string) => `exec 3<>/dev/tcp/${host.replace(':', '/')}`
/** Where the wire is cut, nobody can be asked, and not everything is heard: then it is tried again. */
const againAndAgain = (hosts: readonly string[]) => `while :; do ${hosts.map(get).join('; ')}; sleep 0.05; done`

const sandbox = sandboxProfiles.readOnly()
const bash = (env: Environment, script: string, network: ManagedNetwork) =>
  env.processes.start(['bash', '-c', script], { sandbox, network })

export function networkBehaviour(setting: Setting): void {
  const { open } = setting

  test('a command reaches what is allowed, through its proxy, and nothing else', async () => {
    await using env = open()
    await using origin = await startOrigin()
    const domains = { [origin.host]: 'allow' } as const
    const allowed = await bash(env, get(origin.host), { domains })
    assert.match(await allowed.text(), /200 OK.*origin\n$/s)
    const blocked = await bash(env, get(origin.host), { domains: { 'example.test': 'allow' } })
    assert.match(await blocked.text(), /403 Forbidden/)
    const direct = await bash(env, goTo(origin.host), { domains })
    assert.notEqual((await direct.wait()).exitCode, 0)
    assert.equal(origin.visits.length, 1)
  })

  test('what no rule allows is decided by whoever asked to, who hears of it again', async () => {
    await using env = open()
    await using origin = await startOrigin()
    const asked: NetworkRequest[] = []
    const decided: NetworkDecision[] = []
    const network: ManagedNetwork = {
      allowLocalBinding: true,
      domains: { 'denied.test': 'deny' },
      decide: async (request) => {
        asked.push(request)
        return request.host === '127.0.0.1' ? 'allow' : { deny: 'not today' }
      },
      onDecision: (decision) => decided.push(decision),
    }
    await using command = await bash(env, againAndAgain([origin.host, 'asked.test', 'denied.test']), network)
    const heard = (host: string, reason: string) => decided.find((each) => each.host === host && each.reason === reason)
    await until(() => decided.some(({ policyOverride }) => policyOverride))
    await until(() => heard('asked.test', 'not today') !== undefined && heard('denied.test', 'denied') !== undefined)
    await command.terminate()
    const text = await command.text()
    assert.match(text, /origin/)
    assert.match(text, /403 Forbidden.*not today/s)
    assert.ok(origin.visits.length > 0)
    const wanted = asked.find(({ host }) => host === 'asked.test')
    assert.deepEqual(wanted, { protocol: 'http', host: 'asked.test', port: 80 })
    assert.ok(!asked.some(({ host }) => host === 'denied.test'))
    const { decision, source, method } = heard('asked.test', 'not today')!
    assert.deepEqual({ decision, source, method }, { decision: 'deny', source: 'decider', method: 'GET' })
  })

  test('whoever throws, or takes too long to decide, has said no', async () => {
    await using env = open()
    await using origin = await startOrigin()
    const reasons = new Set<string>()
    const decide = (_: NetworkRequest, signal: AbortSignal) => {
      if (!reasons.has('decision_failed')) throw new Error('broken')
      return new Promise<'allow'>((resolve) => signal.addEventListener('abort', () => resolve('allow')))
    }
    const onDecision = ({ reason }: NetworkDecision) => reasons.add(reason)
    const network = { allowLocalBinding: true, decide, decideTimeoutMs: 20, onDecision }
    await using command = await bash(env, againAndAgain([origin.host]), network)
    await until(() => reasons.has('decision_failed') && reasons.has('decision_timeout'))
    await command.terminate()
    assert.deepEqual(origin.visits, [])
  })

  test('a command that fails because of its network says whom it wanted to reach', async () => {
    await using env = open()
    const command = await bash(env, `{ ${get('example.test')}; } | grep -q '200 OK'`, {})
    const { exitCode, sandboxDenied, sandboxDenials = [] } = await command.wait()
    assert.deepEqual({ exitCode, sandboxDenied }, { exitCode: 1, sandboxDenied: true })
    const [denial] = sandboxDenials.filter(({ kind }) => kind === 'network')
    assert.deepEqual([denial?.host, denial?.port, denial?.confidence], ['example.test', 80, 'certain'])
  })

  test('without a sandbox a proxy is an offer, and cannot be enforced', async () => {
    await using env = open()
    await using origin = await startOrigin()
    const start = (script: string, network: ManagedNetwork) => env.processes.start(['bash', '-c', script], { network })
    assert.match(await (await start(get('example.test'), {})).text(), /403 Forbidden/)
    const rude = await start(goTo(origin.host), {})
    assert.equal((await rude.wait()).exitCode, 0)
    await fails(start('true', { enforce: true }), 'REFUSED')
  })

  test('rules that make no sense are refused', async () => {
    await using env = open()
    await fails(bash(env, 'true', { domains: { 'not a host': 'allow' } }), 'REFUSED')
    await fails(bash(env, 'true', { decide: () => 'allow', decideTimeoutMs: 0 }), 'REFUSED')
  })
}
