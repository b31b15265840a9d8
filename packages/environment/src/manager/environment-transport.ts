import { ExecError } from '../errors.ts'

export interface UrlTransport {
  readonly kind: 'url'
  /** `ws://`, `wss://`, or `unix:///absolute/path` for a socket of this machine. */
  readonly url: string
  readonly token?: string | undefined
  /** Read at every attempt to connect, so that a token can be renewed. */
  readonly tokenFile?: string | undefined
  readonly connectTimeoutMs?: number | undefined
  readonly initializeTimeoutMs?: number | undefined
}

/** An executor that is started, and spoken to over its standard input and output. */
export interface CommandTransport {
  readonly kind: 'command'
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Where on this machine the program is started. */
  readonly cwd?: string | undefined
  /** Told what it says on its standard error, line by line. */
  readonly onStderr?: ((line: string) => void) | undefined
  readonly initializeTimeoutMs?: number | undefined
}

export type RemoteTransport = UrlTransport | CommandTransport
export type EnvironmentTransport = { readonly kind: 'local' } | RemoteTransport

/** What a single setting says: nothing is this machine, `none` is an error, anything else is where to connect. */
export function transportFromUrl(setting: string | undefined): EnvironmentTransport {
  const text = setting?.trim() ?? ''
  if (text === '') return { kind: 'local' }
  if (isDisabled(text)) {
    throw invalid('the exec-server url is `none`, which disables environments: there is none to create')
  }
  return { kind: 'url', url: environmentUrl(text) }
}

export function isDisabled(setting: string): boolean {
  return setting.trim().toLowerCase() === 'none'
}

/** The URL without outer whitespace, or an error that says what is wrong with it. */
export function environmentUrl(text: string): string {
  const url = text.trim()
  if (url === '') throw invalid('environment url cannot be empty')
  if (!/^(wss?|unix):\/\//.test(url)) {
    throw invalid(`environment url \`${url}\` must use ws:// or wss://, or unix:///path for a socket of this machine`)
  }
  if (url.startsWith('unix:')) {
    if (/^unix:\/\/\/[^\0]+$/.test(url)) return url
    throw invalid(`environment url \`${url}\` is invalid: expected unix:///absolute/path`)
  }
  try {
    new URL(url)
  } catch (cause) {
    throw invalid(`environment url \`${url}\` is invalid: expected ${url.split(':')[0]}://host:port/path`, { cause })
  }
  return url
}

/** A token is only for who is meant to have it: over TLS, or on this machine. */
export function protectsToken(url: string): boolean {
  if (!/^ws:/i.test(url) || !URL.canParse(url)) return true
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

export const TOKEN_UNPROTECTED = 'would send the token unprotected: use wss://, or a loopback address'

export function checkProgram(id: string, program: string): void {
  if (program.trim() === '') throw invalid(`environment \`${id}\` program cannot be empty`)
}

/** Throws unless somebody could connect with it. */
export function checkRemoteTransport(id: string, transport: EnvironmentTransport): void {
  if (transport.kind === 'command') {
    checkProgram(id, transport.program)
    return
  }
  if (transport.kind === 'local' || transport.url.trim() === '') {
    throw invalid('remote environment requires an exec-server url')
  }
  if (isDisabled(transport.url)) throw invalid('remote environment cannot use disabled exec-server url')
  environmentUrl(transport.url)
}

function invalid(message: string, options?: ErrorOptions): ExecError {
  return new ExecError('CONFIG_INVALID', message, options)
}
