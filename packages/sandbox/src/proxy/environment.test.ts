import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { proxyEnvironment } from './environment.ts'

describe('the environment of a command behind a proxy', () => {
  const environment = (changes: { socks?: boolean; localAllowed?: boolean; ownLoopback?: boolean } = {}) =>
    proxyEnvironment({ port: 3128, socks: true, localAllowed: false, ownLoopback: false, ...changes })

  test('names the proxy in all spellings that programs know', () => {
    const given = environment()
    assert.deepEqual(
      Object.keys(given).sort().join(' '),
      [
        'ALL_PROXY BUNDLE_HTTPS_PROXY BUNDLE_HTTP_PROXY BUNDLE_NO_PROXY CODEX_NETWORK_ALLOW_LOCAL_BINDING',
        'CODEX_NETWORK_PROXY_ACTIVE DOCKER_HTTPS_PROXY DOCKER_HTTP_PROXY ELECTRON_GET_USE_PROXY FTP_PROXY HTTPS_PROXY',
        'HTTP_PROXY NODE_USE_ENV_PROXY NO_PROXY NPM_CONFIG_HTTPS_PROXY NPM_CONFIG_HTTP_PROXY NPM_CONFIG_NOPROXY',
        'NPM_CONFIG_PROXY PIP_PROXY WALDO_NETWORK_PROXY_ACTIVE WSS_PROXY WS_PROXY YARN_HTTPS_PROXY YARN_HTTP_PROXY',
        'YARN_NO_PROXY all_proxy ftp_proxy http_proxy https_proxy no_proxy npm_config_http_proxy npm_config_https_proxy',
        'npm_config_noproxy npm_config_proxy ws_proxy wss_proxy',
      ].join(' '),
    )
    const { HTTP_PROXY, https_proxy, ALL_PROXY, NO_PROXY, CODEX_NETWORK_PROXY_ACTIVE } = given
    assert.deepEqual(
      { HTTP_PROXY, https_proxy, ALL_PROXY, NO_PROXY, CODEX_NETWORK_PROXY_ACTIVE },
      {
        HTTP_PROXY: 'http://127.0.0.1:3128',
        https_proxy: 'http://127.0.0.1:3128',
        ALL_PROXY: 'socks5h://127.0.0.1:3128',
        NO_PROXY: '',
        CODEX_NETWORK_PROXY_ACTIVE: '1',
      },
    )
  })

  test('says what may be reached without it', () => {
    assert.equal(environment({ ownLoopback: true }).no_proxy, 'localhost,127.0.0.1,::1')
    assert.match(environment({ localAllowed: true }).no_proxy!, /^localhost,127.0.0.1,::1,10.0.0.0\/8,/)
    assert.equal(environment({ localAllowed: true, ownLoopback: true }).no_proxy, 'localhost,127.0.0.1,::1')
    assert.equal(environment({ localAllowed: true }).CODEX_NETWORK_ALLOW_LOCAL_BINDING, '1')
    assert.equal(environment({ socks: false }).ALL_PROXY, 'http://127.0.0.1:3128')
  })
})
