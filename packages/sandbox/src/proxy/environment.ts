const HTTP = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'WS_PROXY', 'WSS_PROXY', 'http_proxy', 'https_proxy', 'ws_proxy', 'wss_proxy'],
  ...['YARN_HTTP_PROXY', 'YARN_HTTPS_PROXY'],
  ...['NPM_CONFIG_HTTP_PROXY', 'NPM_CONFIG_HTTPS_PROXY', 'NPM_CONFIG_PROXY'],
  ...['npm_config_http_proxy', 'npm_config_https_proxy', 'npm_config_proxy'],
  ...['BUNDLE_HTTP_PROXY', 'BUNDLE_HTTPS_PROXY', 'PIP_PROXY', 'DOCKER_HTTP_PROXY', 'DOCKER_HTTPS_PROXY'],
]
const ANY_PROTOCOL = ['ALL_PROXY', 'all_proxy', 'FTP_PROXY', 'ftp_proxy']
const EXCEPTIONS = [
  'NO_PROXY',
  'no_proxy',
  'NPM_CONFIG_NOPROXY',
  'npm_config_noproxy',
  'YARN_NO_PROXY',
  'BUNDLE_NO_PROXY',
]
const LOOPBACK = 'localhost,127.0.0.1,::1'
const PRIVATE = `${LOOPBACK},10.0.0.0/8,172.16.0.0/12,192.168.0.0/16`

export interface ProxyEnvironmentOptions {
  /** On 127.0.0.1. */
  readonly port: number
  readonly socks: boolean
  readonly localAllowed: boolean
  /**
   * Whether the command lives in a network of its own. Then its loopback holds nothing but what it has started itself,
   * which it may talk to; and private networks can be reached through the proxy alone.
   */
  readonly ownLoopback: boolean
}

/**
 * The variables that make programs use a proxy, in all the spellings that they know. Exceptions are set even when
 * there are none: what a command inherits must not lead it past the proxy, into nothing.
 */
export function proxyEnvironment(options: ProxyEnvironmentOptions): Record<string, string> {
  const { port, socks, localAllowed, ownLoopback } = options
  const all = (names: readonly string[], value: string) => names.map((name) => [name, value])
  const url = `http://127.0.0.1:${port}`
  return Object.fromEntries([
    ...all(HTTP, url),
    // The proxy looks names up, not the client, which has nobody to ask.
    ...all(ANY_PROTOCOL, socks ? `socks5h://127.0.0.1:${port}` : url),
    ...all(EXCEPTIONS, ownLoopback ? LOOPBACK : localAllowed ? PRIVATE : ''),
    ['ELECTRON_GET_USE_PROXY', 'true'],
    ['NODE_USE_ENV_PROXY', '1'],
    ['CODEX_NETWORK_PROXY_ACTIVE', '1'],
    ['WALDO_NETWORK_PROXY_ACTIVE', '1'],
    ['CODEX_NETWORK_ALLOW_LOCAL_BINDING', localAllowed ? '1' : '0'],
  ])
}
