import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ExecError, type ExecErrorCode, type ManagedNetwork, sandboxProfiles } from '@waldo/environment'
import { networkParams } from './network-params.ts'

const SANDBOX = sandboxProfiles.readOnly()
const CAPABLE = { networkProxyLaunch: true }
const refused = (code: ExecErrorCode, ...args: Parameters<typeof networkParams>) =>
  assert.throws(
    () => networkParams(...args),
    (error) => ExecError.is(error, code),
  )

describe('a managed network', () => {
  test('needs no more than a list of domains, and is enforced in a sandbox', () => {
    const proxy = {
      enabled: true,
      enableSocks5: true,
      enableSocks5Udp: false,
      allowUpstreamProxy: false,
      dangerouslyAllowAllUnixSockets: false,
      mode: 'full',
      allowLocalBinding: false,
      domains: { 'api.example.com': 'allow' },
    }
    const network: ManagedNetwork = { domains: { 'api.example.com': 'allow' } }
    assert.deepEqual(networkParams(network, SANDBOX, CAPABLE), {
      networkProxy: { proxy },
      enforceManagedNetwork: true,
    })
    assert.deepEqual(networkParams(network, undefined, CAPABLE), {
      networkProxy: { proxy },
      enforceManagedNetwork: false,
    })
  })

  test('says that somebody decides, and how long that takes, only if somebody does', () => {
    const timeout = (network: ManagedNetwork) =>
      (networkParams(network, SANDBOX, CAPABLE) as { networkProxy: { policyDecisionTimeoutMs?: number } }).networkProxy
        .policyDecisionTimeoutMs
    assert.equal(timeout({ onDecision: () => {}, decideTimeoutMs: 7 }), undefined)
    assert.equal(timeout({ decide: () => 'allow' }), 60_000)
    assert.equal(timeout({ decide: () => 'allow', decideTimeoutMs: 7 }), 7)
    for (const decideTimeoutMs of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
      refused('REFUSED', { decide: () => 'allow', decideTimeoutMs }, SANDBOX, CAPABLE)
    }
  })

  test('is refused where it would not hold', () => {
    refused('UNSUPPORTED', {}, SANDBOX, {})
    refused('REFUSED', { enforce: true }, undefined, CAPABLE)
  })
})
