import { createHash, randomBytes } from 'node:crypto'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ServerUrl } from '../server-url.ts'

const MAX_ANSWER_BYTES = 16 * 1024
/** Of an answer that says no, in a message. */
const MAX_REASON = 300

/** A socket on which both sides have agreed to speak WebSocket; what came after that is put back into it. */
export function openUpgradedSocket(
  target: ServerUrl,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise<Socket>((resolve, reject) => {
    signal.throwIfAborted()
    const key = randomBytes(16).toString('base64')
    const { socket, ready } = dial(target)
    let answer = Buffer.alloc(0)
    const settle = () => {
      signal.removeEventListener('abort', abort)
      // The listener for errors stays: one that comes before or after somebody else listens must not go unheard.
      socket.off('data', read).off('end', ended).off('close', ended)
    }
    const fail = (error: unknown) => {
      settle()
      socket.destroy()
      reject(error)
    }
    const abort = () => fail(signal.reason)
    const ended = () => {
      fail(new Error(answer.length > 0 ? refusal(answer) : 'the other side hung up without an answer'))
    }
    const read = (bytes: Buffer) => {
      answer = Buffer.concat([answer, bytes])
      const end = answer.indexOf('\r\n\r\n')
      if (end < 0 || !isComplete(answer, end)) {
        if (answer.length > MAX_ANSWER_BYTES) fail(new Error(refusal(answer)))
        return
      }
      const problem = refusalOf(answer, end, key)
      if (problem !== undefined) return fail(new Error(problem))
      settle()
      socket.pause()
      const rest = answer.subarray(end + 4)
      if (rest.length > 0) socket.unshift(rest)
      resolve(socket)
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.setNoDelay(true)
    socket.once(ready, () => socket.write(upgradeRequest(target, key, headers)))
    socket.on('error', fail)
    socket.on('end', ended)
    socket.on('close', ended)
    socket.on('data', read)
  })
}

function dial(target: ServerUrl): { socket: Socket; ready: 'connect' | 'secureConnect' } {
  if (target.kind === 'unix') return { socket: connectTcp(target.path), ready: 'connect' }
  const { hostname, protocol, port } = target.url
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'ws:') return { socket: connectTcp(Number(port || 80), host), ready: 'connect' }
  const socket = connectTls({ host, port: Number(port || 443), ...(/[a-z]/i.test(host) && { servername: host }) })
  return { socket, ready: 'secureConnect' }
}

function upgradeRequest(target: ServerUrl, key: string, headers: Readonly<Record<string, string>>): string {
  const { host, path } =
    target.kind === 'unix'
      ? { host: 'localhost', path: '/' }
      : { host: target.url.host, path: target.url.pathname + target.url.search }
  return [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${key}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n')
}

/** An answer that says no is waited for to its end, if it says where that is: it may explain itself. */
function isComplete(answer: Buffer, end: number): boolean {
  const head = answer.toString('latin1', 0, end)
  const [, length] = /^content-length: *(\d+)$/im.exec(head) ?? []
  return /^HTTP\/1\.1 101 /.test(head) || answer.length >= end + 4 + Number(length ?? 0)
}

/** Undefined if the server has agreed. */
function refusalOf(answer: Buffer, end: number, key: string): string | undefined {
  const head = answer.toString('latin1', 0, end)
  if (!/^HTTP\/1\.1 101 /.test(head)) return refusal(answer)
  const expected = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const [, accept] = /^sec-websocket-accept: *(\S+) *$/im.exec(head) ?? []
  return accept === expected ? undefined : 'the other side does not speak WebSocket: its answer is to another question'
}

function refusal(answer: Buffer): string {
  const text = answer.toString('utf8')
  const [, status] = /^HTTP\/1\.[01] (\d{3}[^\r\n]*)/.exec(text) ?? []
  if (status === undefined) return 'the other side does not speak WebSocket'
  const body = text.slice(text.indexOf('\r\n\r\n') + 4).trim()
  return `the server answered ${status}${body === '' ? '' : `: ${body.slice(0, MAX_REASON)}`}`
}
