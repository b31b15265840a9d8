export type ListenAddress =
  | {
      readonly kind: 'tcp'
      readonly url: string
      readonly secure: boolean
      readonly host: string
      readonly port: number
    }
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'stdio' }

export class ListenAddressError extends Error {
  override readonly name = 'ListenAddressError'
}

/** `ws://IP:PORT`, `wss://IP:PORT`, `unix:///path` or `stdio`. */
export function parseListenAddress(text: string): ListenAddress {
  if (text === 'stdio' || text === 'stdio://') return { kind: 'stdio' }
  if (text.startsWith('unix://')) {
    const path = text.slice('unix://'.length)
    if (path.startsWith('/') && !path.includes('\0')) return { kind: 'unix', path }
    throw new ListenAddressError(`invalid unix --listen URL \`${text}\`; expected \`unix:///absolute/path\``)
  }
  const scheme = /^wss?:\/\//.exec(text)?.[0]
  if (!scheme) {
    throw new ListenAddressError(`unsupported --listen URL \`${text}\`; expected \`ws://IP:PORT\` or \`stdio\``)
  }
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|\d+\.\d+\.\d+\.\d+):(\d{1,5})$/.exec(text.slice(scheme.length)) ?? []
  if (host === undefined || !URL.canParse(`ws://${host}:${port}`)) {
    throw new ListenAddressError(`invalid websocket --listen URL \`${text}\`; expected \`ws://IP:PORT\``)
  }
  return { kind: 'tcp', url: text, secure: scheme === 'wss://', host: host.replace(/[[\]]/g, ''), port: Number(port) }
}

export function isLoopback(host: string): boolean {
  return host.startsWith('127.') || host === '::1' || host.startsWith('::ffff:127.')
}
