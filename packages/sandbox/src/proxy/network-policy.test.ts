import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Decider, NetworkDecision } from './decision.ts'
import { wireConfig } from './fixtures/proxy.ts'
import { NetworkPolicy, type NetworkRequest, type Verdict } from './network-policy.ts'
import { Resolver, type UnreachableError } from './resolver.ts'
import { proxyRules } from './rules.ts'

const PUBLIC = '93.184.215.14'
const never = new AbortController().signal

interface TestPolicy {
  readonly decisions: NetworkDecision[]
  readonly lookups: string[]
  readonly asked: string[]
  judge(host: string, request?: Partial<NetworkRequest>, signal?: AbortSignal): Promise<Verdict>
}

function testPolicy(
  config: Record<string, unknown>,
  { names = {} as Record<string, string[]>, decide = undefined as Decider | undefined, decideMs = 60_000 } = {},
): TestPolicy {
  const decisions: NetworkDecision[] = []
  const lookups: string[] = []
  const asked: string[] = []
  const lookup = async (host: string) => {
    lookups.push(host)
    return names[host] ?? [PUBLIC]
  }
  const policy = new NetworkPolicy({
    rules: proxyRules(wireConfig(config)),
    resolver: new Resolver(lookup, 1000),
    decide:
      decide &&
      ((question, signal) => {
        asked.push(`${question.protocol} ${question.host}:${question.port}`)
        return decide(question, signal)
      }),
    decideMs,
    onDecision: (decision) => decisions.push(decision),
  })
  const judge = (host: string, request: Partial<NetworkRequest> = {}, signal = never) =>
    policy.judge({ protocol: 'http', method: 'GET', host, port: 80, ...request }, signal)
  return { decisions, lookups, asked, judge }
}

const reason = (verdict: Verdict) => (verdict.allowed ? verdict.addresses.join() : verdict.decision.reason)

describe('a network policy', () => {
  test('blocks what is denied first, then what is local, then what is not allowed', async () => {
    const domains = { '*': 'allow', '**.denied.test': 'deny', '10.0.0.1': 'deny' }
    const open = testPolicy({ domains })
    for (const host of ['denied.test', 'a.denied.test', '10.0.0.1'])
      assert.equal(reason(await open.judge(host)), 'denied')
    for (const host of [
      'localhost',
      'x.localhost',
      '127.0.0.1',
      '10.0.0.2',
      '::1',
      '169.254.169.254',
      '64:ff9b::7f00:1',
    ]) {
      assert.equal(reason(await open.judge(host)), 'not_allowed_local', host)
    }
    assert.equal(reason(await open.judge('any.test')), PUBLIC)
    assert.equal(reason(await open.judge('1.1.1.1')), '1.1.1.1')
    const closed = testPolicy({ domains: null })
    assert.equal(reason(await closed.judge('any.test')), 'not_allowed')
    assert.equal(reason(await closed.judge('1.1.1.1')), 'not_allowed')
    assert.equal(reason(await closed.judge('127.0.0.1')), 'not_allowed_local')
    assert.deepEqual(
      closed.decisions.map(({ decision, source, scope }) => `${decision} ${source} ${scope}`),
      Array(3).fill('deny baseline_policy domain'),
    )
  })

  test('looks up no name that it has not allowed', async () => {
    const policy = testPolicy({ domains: { 'a.test': 'allow', 'b.test': 'deny' } })
    for (const host of ['secret.attacker.test', 'b.test', 'a.test']) await policy.judge(host)
    assert.deepEqual(policy.lookups, ['a.test'])
  })

  test('lets a name lead to public addresses alone, all of them', async () => {
    const names = {
      'rebound.test': ['127.0.0.1'],
      'mixed.test': [PUBLIC, '10.0.0.1'],
      'mapped.test': ['::ffff:10.0.0.1'],
      'metadata.test': ['169.254.169.254'],
      'broken.test': ['what'],
      'two.test': [PUBLIC, '2606:4700::1'],
    }
    const config = {
      domains: { '*': 'allow', ...Object.fromEntries(Object.keys(names).map((name) => [name, 'allow'])) },
    }
    const policy = testPolicy(config, { names })
    for (const host of Object.keys(names).slice(0, -1)) {
      assert.equal(reason(await policy.judge(host)), 'not_allowed_local', host)
    }
    assert.equal(reason(await policy.judge('two.test')), `${PUBLIC},2606:4700::1`)
    // With local networks open, what hands out credentials stays closed.
    const local = testPolicy({ ...config, allowLocalBinding: true }, { names })
    assert.equal(reason(await local.judge('mixed.test')), `${PUBLIC},10.0.0.1`)
    assert.equal(reason(await local.judge('metadata.test')), 'not_allowed_local')
    assert.equal(reason(await local.judge('169.254.169.254')), 'not_allowed_local')
  })

  test('lets no name lead to an address that is denied', async () => {
    const domains = { '*': 'allow', '93.184.215.14': 'deny', '[2606:4700::1]': 'deny' }
    const policy = testPolicy({ domains }, { names: { 'b.test': ['1.1.1.1', '2606:4700:0:0:0:0:0:1'] } })
    assert.equal(reason(await policy.judge('a.test')), 'denied')
    assert.equal(reason(await policy.judge('b.test')), 'denied')
  })

  test('allows local addresses by name, and a name for this machine without asking anybody', async () => {
    const domains = { localhost: 'allow', '127.0.0.1': 'allow', '169.254.169.254': 'allow', '10.0.0.1:8080': 'allow' }
    const policy = testPolicy({ domains })
    assert.equal(reason(await policy.judge('localhost')), '127.0.0.1,::1')
    assert.equal(reason(await policy.judge('127.0.0.1')), '127.0.0.1')
    assert.equal(reason(await policy.judge('169.254.169.254')), '169.254.169.254')
    assert.equal(reason(await policy.judge('127.0.0.2')), 'not_allowed_local')
    assert.equal(reason(await policy.judge('10.0.0.1')), 'not_allowed_local')
    assert.equal(reason(await policy.judge('10.0.0.1', { port: 8080 })), '10.0.0.1')
    assert.deepEqual(policy.lookups, [])
    const open = testPolicy({ domains: null, allowLocalBinding: true })
    assert.equal(reason(await open.judge('127.0.0.1')), 'not_allowed')
  })

  test('in limited mode lets through only what reads, where it can see that', async () => {
    const policy = testPolicy({ domains: { '*': 'allow' }, mode: 'limited' })
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      assert.equal(reason(await policy.judge('a.test', { method })), PUBLIC)
    const others: Partial<NetworkRequest>[] = [
      { method: 'POST' },
      { method: 'get' },
      { method: 'TRACE' },
      { protocol: 'https_connect', method: 'CONNECT' },
      { protocol: 'socks5_tcp', method: 'GET' },
    ]
    for (const request of others) assert.equal(reason(await policy.judge('a.test', request)), 'method_not_allowed')
    assert.equal(policy.decisions.at(-1)?.source, 'mode_guard')
  })

  test('that is switched off blocks everything', async () => {
    const policy = testPolicy(
      { enabled: false, domains: { '*': 'allow' } },
      { decide: async () => ({ type: 'allow' }) },
    )
    assert.equal(reason(await policy.judge('a.test')), 'proxy_disabled')
    assert.deepEqual([policy.decisions[0]?.source, policy.decisions[0]?.scope], ['proxy_state', 'non_domain'])
    assert.deepEqual(policy.asked, [])
  })
})

describe('whoever decides', () => {
  test('is asked about what no rule allows, and about nothing else', async () => {
    const config = {
      domains: { 'a.test': 'allow', 'b.test': 'deny', 'r.test': 'allow' },
      reviewDomains: ['r.test', 'b.test'],
    }
    const policy = testPolicy(config, { decide: async () => ({ type: 'allow' }) })
    const hosts = ['a.test', 'b.test', 'c.test', 'r.test', '127.0.0.1', 'localhost', '10.0.0.1']
    for (const host of hosts) await policy.judge(host, { protocol: 'https_connect', port: 443 })
    assert.deepEqual(policy.asked, ['https_connect c.test:443', 'https_connect r.test:443'])
    assert.deepEqual(
      policy.decisions.map(({ host, decision, source, reason, policyOverride }) =>
        [host, decision, source, reason, policyOverride].join(' '),
      ),
      [
        'a.test allow baseline_policy allow false',
        'b.test deny baseline_policy denied false',
        'c.test allow decider not_allowed true',
        'r.test allow decider not_allowed true',
        '127.0.0.1 deny baseline_policy not_allowed_local false',
        'localhost deny baseline_policy not_allowed_local false',
        '10.0.0.1 deny baseline_policy not_allowed_local false',
      ],
    )
  })

  test('cannot open the way to a local address', async () => {
    const policy = testPolicy({}, { decide: async () => ({ type: 'allow' }), names: { 'c.test': ['10.0.0.1'] } })
    assert.equal(reason(await policy.judge('c.test')), 'not_allowed_local')
    const [{ source, policyOverride }] = policy.decisions as [NetworkDecision]
    assert.deepEqual([source, policyOverride, policy.decisions.length], ['baseline_policy', false, 1])
  })

  test('says why, in words that can be passed on', async () => {
    const answers: [unknown, string][] = [
      [{ type: 'deny', reason: 'because' }, 'deny because'],
      [{ type: 'ask', reason: 'later' }, 'ask later'],
      [{ type: 'deny', reason: '' }, 'deny policy_denied'],
      [{ type: 'deny', reason: 'x'.repeat(1025) }, 'deny not_allowed'],
      [{ type: 'deny', reason: 'a\r\nx-evil: 1' }, 'deny not_allowed'],
      [{ type: 'deny' }, 'deny not_allowed'],
      [{ type: 'what', reason: 'x' }, 'deny x'],
      [undefined, 'deny not_allowed'],
    ]
    for (const [answer, expected] of answers) {
      const policy = testPolicy({}, { decide: async () => answer as never })
      await policy.judge('c.test')
      const [{ decision, reason, source }] = policy.decisions as [NetworkDecision]
      assert.deepEqual([`${decision} ${reason}`, source], [expected, 'decider'])
    }
  })

  test('has denied it when nothing comes of it', async () => {
    const failing: Decider[] = [
      () => Promise.reject(new Error('no connection')),
      () => {
        throw new Error('at once')
      },
      () => new Promise(() => {}),
    ]
    for (const decide of failing) {
      const policy = testPolicy({}, { decide, decideMs: 20 })
      assert.equal(reason(await policy.judge('c.test')), 'not_allowed')
      assert.equal(policy.decisions[0]?.source, 'decider')
    }
  })

  test('is told when nobody waits any more', async () => {
    const asked = Promise.withResolvers<AbortSignal>()
    const decide: Decider = (_, signal) => {
      asked.resolve(signal)
      return new Promise(() => {})
    }
    const policy = testPolicy({}, { decide })
    const client = new AbortController()
    const verdict = policy.judge('c.test', {}, client.signal)
    const signal = await asked.promise
    client.abort(new Error('gone'))
    await assert.rejects(verdict, /gone/)
    assert.ok(signal.aborted)
    assert.deepEqual(policy.decisions, [])
  })
})

describe('a lookup', () => {
  test('that finds nothing, or takes too long, is no block', async () => {
    const resolver = new Resolver((host) => (host === 'none.test' ? Promise.resolve([]) : new Promise(() => {})), 20)
    await assert.rejects(resolver.addresses('none.test', never), /none.test has no address/)
    await assert.rejects(resolver.addresses('slow.test', never), ({ timedOut }: UnreachableError) => timedOut)
    const client = new AbortController()
    const given = resolver.addresses('slow.test', client.signal)
    client.abort(new Error('gone'))
    await assert.rejects(given, /gone/)
  })

  test('goes on in the background, so that there can only be so many', async () => {
    const resolver = new Resolver(() => new Promise(() => {}), 1)
    const all = await Promise.allSettled(Array.from({ length: 257 }, () => resolver.addresses('slow.test', never)))
    assert.match(String((all.at(-1) as PromiseRejectedResult).reason), /256 names are being looked up already/)
  })
})
