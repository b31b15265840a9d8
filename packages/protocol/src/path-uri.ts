/**
 * Paths travel as canonical `file:` URLs, whatever system they belong to. Whether a URI is a POSIX or a Windows path
 * is read from its spelling: a host means a UNC share, a first segment such as `C:` a drive, anything else POSIX.
 */
import { DecodeError, type Schema, string } from './decode.ts'

declare const brand: unique symbol
export type PathUri = string & { readonly [brand]: true }
type PathConvention = 'posix' | 'windows'

/** Paths that no URI spells faithfully are carried whole, as base64url, below this prefix. */
const OPAQUE = 'file:///%00/bad/path/'
const DRIVE = /^\/([A-Za-z]:)(?=\/|$)/

/** Returns the canonical form, or throws a `DecodeError` that says what is wrong. */
export const pathUri: Schema<PathUri> = (value) => {
  const text = string(value)
  if (text.startsWith('file://') && PLAIN_PATH.test(text.slice(7))) return text as PathUri
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new DecodeError(
      /^[a-z][a-z0-9+.-]*:/i.test(text)
        ? `invalid URI: ${quote(text)}`
        : 'invalid URI: relative URL without a base; a path is written file:///absolute/path',
      { cause },
    )
  }
  if (url.protocol !== 'file:') throw new DecodeError(`unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``)
  // The parser drops an empty query or fragment from `search` and `hash`, so look at the text.
  if (url.href.includes('?')) throw new DecodeError('query parameters are not allowed in path URIs')
  if (url.href.includes('#')) throw new DecodeError('fragments are not allowed in path URIs')
  const canonical = `file://${url.host}${url.pathname.replace(DRIVE, (_, drive: string) => `/${drive.toUpperCase()}`)}`
  if (canonical.includes('%00') && !canonical.startsWith(OPAQUE))
    throw new DecodeError(foreign(canonical, 'any system'))
  return canonical as PathUri
}

export function conventionOf(uri: PathUri): PathConvention {
  const { host, path } = split(uri)
  return host !== '' || DRIVE.test(path) ? 'windows' : 'posix'
}

/** The bytes of a POSIX path. Throws a `DecodeError` for a path that this system cannot have. */
export function toPosixBytes(uri: PathUri, system = 'linux'): Uint8Array {
  if (uri.startsWith(OPAQUE)) return opaqueBytes(uri)
  // An encoded slash cannot be part of a POSIX name; decoding it would name another file.
  if (conventionOf(uri) !== 'posix' || /%2f/i.test(uri)) throw new DecodeError(foreign(uri, system))
  return percentDecode(split(uri).path)
}

/** The path as text, or as bytes where it is not UTF-8. Node's and Bun's file calls take both. */
export function toPosixPath(uri: PathUri, system = 'linux'): string | Uint8Array {
  if (!uri.includes('%') && conventionOf(uri) === 'posix') return split(uri).path
  const bytes = toPosixBytes(uri, system)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

export function fromPosixPath(path: string | Uint8Array): PathUri {
  // Almost every path is its own URI, and a walk names tens of thousands.
  if (typeof path === 'string' && PLAIN_PATH.test(path)) return `file://${path}` as PathUri
  const bytes = typeof path === 'string' ? new TextEncoder().encode(path) : path
  const path8 = percentEncode(bytes)
  const faithful = bytes[0] === SLASH && !bytes.includes(0) && !DRIVE.test(path8) && !/\/\.{1,2}(\/|$)/.test(path8)
  // `//host/x` would read as a share; POSIX allows and ignores repeated slashes.
  if (faithful) return `file://${path8.replace(/^\/+/, '/')}` as PathUri
  return `${OPAQUE}${base64url(bytes)}` as PathUri
}

export function fromWindowsPath(path: string): PathUri {
  const plain = path.replace(/^\\\\\?\\(?:UNC\\)?/i, (prefix) => (/unc/i.test(prefix) ? '\\\\' : ''))
  const encode = (text: string) => percentEncode(new TextEncoder().encode(text.replaceAll('\\', '/')))
  const drive = /^([A-Za-z]):(?=[\\/]|$)(.*)$/s.exec(plain)
  if (drive) return `file:///${drive[1]!.toUpperCase()}:${encode(drive[2] || '/')}` as PathUri
  const share = /^[\\/]{2}([A-Za-z0-9][A-Za-z0-9.-]*)([\\/].*)?$/s.exec(plain)
  if (share) return `file://${share[1]!.toLowerCase()}${encode(share[2] ?? '/')}` as PathUri
  const utf16 = new Uint8Array(path.length * 2)
  for (let i = 0; i < path.length; i++) new DataView(utf16.buffer).setUint16(i * 2, path.charCodeAt(i), true)
  return `${OPAQUE}${base64url(utf16)}` as PathUri
}

/** The last segment, decoded; `undefined` for a root or an opaque path. */
export function baseName(uri: PathUri): string | undefined {
  const name = segments(uri)?.at(-1)
  return name === undefined ? undefined : new TextDecoder().decode(percentDecode(name))
}

/** The directory above; `undefined` above a root, a drive, a share, or for an opaque path. */
export function parent(uri: PathUri): PathUri | undefined {
  const names = segments(uri)
  if (!names || names.length === 0) return undefined
  return `${root(uri)}${names.slice(0, -1).join('/')}` as PathUri
}

/** Windows compares letters without case; everything else is exact. */
export function samePath(a: PathUri, b: PathUri): boolean {
  return a === b || (comparable(a).join('/') === comparable(b).join('/') && !isOpaque(a) && !isOpaque(b))
}

/** Whether `inner` is `outer` or lies below it, segment by segment: `/ab` is not below `/a`. */
export function containsPath(outer: PathUri, inner: PathUri): boolean {
  if (isOpaque(outer) || isOpaque(inner)) return outer === inner
  const below = comparable(inner)
  return comparable(outer).every((segment, index) => segment === below[index])
}

/** Resolves native text against `base`, in the convention of `base`. An absolute path replaces it. */
export function joinPath(base: PathUri, text: string): PathUri {
  if (text.includes('\0')) throw new DecodeError('a path must not contain a NUL byte')
  if (isOpaque(base)) throw new DecodeError(`cannot join to ${quote(base)}: it has no URI of its own`)
  const windows = conventionOf(base) === 'windows'
  if (windows) {
    if (/^([A-Za-z]:)?[\\/]/.test(text) && !/^[\\/][^\\/]/.test(text)) return fromWindowsPath(text)
    const drive = /^([A-Za-z]):(?![\\/])(.*)$/s.exec(text)
    if (drive) {
      if (!root(base).endsWith(`/${drive[1]!.toUpperCase()}:/`)) {
        throw new DecodeError(`cannot join ${quote(text)}: it is relative to another drive`)
      }
      return joinPath(base, drive[2]!)
    }
  }
  const absolute = windows ? /^[\\/]/.test(text) : text.startsWith('/')
  const names = absolute ? [] : [...(segments(base) ?? [])]
  for (const name of text.split(windows ? /[\\/]+/ : /\/+/)) {
    if (name === '..') names.pop()
    else if (name !== '' && name !== '.') names.push(percentEncode(new TextEncoder().encode(name)))
  }
  const joined = `${root(base)}${names.join('/')}` as PathUri
  // A POSIX name that looks like a drive letter has only the opaque spelling.
  return !windows && conventionOf(joined) === 'windows' ? fromPosixPath(percentDecode(split(joined).path)) : joined
}

/**
 * Whether a path is carried whole, because no URI spells it (`/C:/x` on POSIX). What is put behind it would be read as a
 * part of its encoding, and name something else.
 */
export function isOpaque(uri: PathUri): boolean {
  return uri.startsWith(OPAQUE)
}

function split(uri: PathUri): { host: string; path: string } {
  const rest = uri.slice('file://'.length)
  const slash = rest.indexOf('/')
  return { host: rest.slice(0, slash), path: rest.slice(slash) }
}

/** What every path below shares and nobody climbs above: `file:///`, `file:///C:/`, `file://host/share/`. */
function root(uri: PathUri): string {
  const { host, path } = split(uri)
  if (host !== '') return `file://${host}/${path.split('/')[1] ?? ''}/`
  const drive = DRIVE.exec(path)
  return drive ? `file:///${drive[1]}/` : 'file:///'
}

/** The segments below the root, still encoded. */
function segments(uri: PathUri): string[] | undefined {
  if (isOpaque(uri)) return undefined
  return uri
    .slice(root(uri).length)
    .split('/')
    .filter((segment) => segment !== '')
}

/** Segments such that equal paths have equal segments. An encoded separator stays encoded and matches nothing else. */
function comparable(uri: PathUri): string[] {
  const windows = conventionOf(uri) === 'windows'
  const decode = (segment: string) => {
    const text = Array.from(percentDecode(segment), (byte) => String.fromCharCode(byte)).join('')
    const safe = text.replace(windows ? /[\\/]/g : /\//g, (separator) => encodeURIComponent(separator))
    return windows ? safe.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : safe
  }
  return [root(uri), ...(segments(uri) ?? []).map(decode)]
}

const SLASH = 0x2f
/** What a URL path may hold as it is; the rest is percent-encoded. */
const PLAIN_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~!$&'()*+,;=@]+)+$/
const PLAIN = /[A-Za-z0-9\-._~!$&'()*+,;=:@/]/

function percentEncode(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) {
    const character = String.fromCharCode(byte)
    text += PLAIN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return text
}

function percentDecode(text: string): Uint8Array {
  const raw = new TextEncoder().encode(text)
  const bytes: number[] = []
  for (let i = 0; i < raw.length; i++) {
    const hex = raw[i] === 0x25 ? text.slice(i + 1, i + 3) : ''
    if (/^[0-9a-f]{2}$/i.test(hex)) {
      bytes.push(Number.parseInt(hex, 16))
      i += 2
    } else bytes.push(raw[i]!)
  }
  return Uint8Array.from(bytes)
}

function opaqueBytes(uri: PathUri): Uint8Array {
  const text = uri.slice(OPAQUE.length).replaceAll('-', '+').replaceAll('_', '/')
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
    if (bytes.includes(0)) throw new Error('a path cannot hold a NUL byte')
    return bytes
  } catch (cause) {
    throw new DecodeError(foreign(uri, 'linux'), { cause })
  }
}

function base64url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function foreign(uri: string, system: string): string {
  return `${quote(uri)} is invalid on '${system}'`
}

function quote(text: string): string {
  return `'${text.length <= 200 ? text : `${text.slice(0, 200)}…`}'`
}
