/**
 * The system calls behind network namespaces, as functions of numbers: nothing outside this file passes memory to C.
 *
 * The optimizer does not know that a foreign call writes to memory, and may take a value that it has loaded before
 * the call for the one after it. So results that come back through memory are read from a copy (`slice`).
 */
import { getSystemErrorName } from 'node:util'

const [i32, i64, u64, pointer] = ['i32', 'i64', 'u64', 'ptr'] as const
const functions = {
  unshare: { args: [i32], returns: i32 },
  setns: { args: [i32, i32], returns: i32 },
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, i32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  ioctl: { args: [i32, u64, pointer], returns: i32 },
  socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
  sendmsg: { args: [i32, pointer, i32], returns: i64 },
  recvmsg: { args: [i32, pointer, i32], returns: i64 },
  __errno_location: { args: [], returns: pointer },
} as const

type Library = ReturnType<typeof openLibrary>
let opened: Library | undefined
const library = (): Library => {
  opened ??= openLibrary()
  return opened
}

function openLibrary() {
  const { dlopen, ptr, read } = require('bun:ffi') as typeof import('bun:ffi')
  return { ...dlopen('libc.so.6', functions).symbols, ptr, read }
}

const CLONE_NEWNET = 0x40000000
const AF_UNIX = 1
const AF_INET = 2
const SOCK_STREAM = 1
const SOCK_SEQPACKET = 5
const SOCK_NONBLOCK = 0o4000
const SOCK_CLOEXEC = 0o2000000
const SIOCSIFFLAGS = 0x8914
const IFF_UP_RUNNING = 0x1 | 0x40
const SOL_SOCKET = 1
const SCM_RIGHTS = 1
const MSG_DONTWAIT = 0x40
const MSG_NOSIGNAL = 0x4000
const MSG_CMSG_CLOEXEC = 0x40000000

/** Gives the calling thread a network of its own, with nothing in it but a loopback interface that is down. */
export function unshareNetwork(): void {
  check(library().unshare(CLONE_NEWNET), 'make a network namespace')
}

/** Moves the calling thread into the network namespace that a descriptor stands for. */
export function enterNetwork(fd: number): void {
  check(library().setns(fd, CLONE_NEWNET), 'enter a network namespace')
}

/** In the calling thread's network. `socket` is any socket of that network. */
export function bringLoopbackUp(socket: number): void {
  const request = new Uint8Array(40)
  request.set(Buffer.from('lo'))
  new DataView(request.buffer).setInt16(16, IFF_UP_RUNNING, true)
  const { ioctl, ptr } = library()
  check(ioctl(socket, SIOCSIFFLAGS, ptr(request)), 'bring the loopback interface up')
}

export function createTcpSocket(): number {
  return check(library().socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), 'create a socket')
}

export function listenOnLoopback(socket: number, port: number, backlog: number): void {
  const address = Uint8Array.of(AF_INET, 0, port >> 8, port & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)
  const { bind, listen, ptr } = library()
  check(bind(socket, ptr(address), address.length), `bind 127.0.0.1:${port}`)
  check(listen(socket, backlog), `listen on 127.0.0.1:${port}`)
}

/** Two connected sockets that keep messages apart, and can carry descriptors from one process to another. */
export function createChannel(): [number, number] {
  const pair = new Int32Array(2)
  const { socketpair, ptr } = library()
  check(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ptr(pair)), 'create a pair of sockets')
  const [ours, theirs] = pair.slice()
  return [ours!, theirs!]
}

/** Sends copies of descriptors: the receiver has its own, whatever becomes of ours. */
export function sendDescriptors(channel: number, descriptors: readonly number[]): void {
  const message = new Message(descriptors.length)
  message.descriptors = descriptors
  check(Number(library().sendmsg(channel, message.pointer, MSG_NOSIGNAL)), 'send descriptors')
}

/** Takes the next message, which must have come already, and whatever descriptors are in it: `count` at most. */
export function receiveDescriptors(channel: number, count: number): number[] {
  const message = new Message(count)
  const flags = MSG_DONTWAIT | MSG_CMSG_CLOEXEC
  check(Number(library().recvmsg(channel, message.pointer, flags)), 'receive descriptors')
  return message.descriptors
}

/** Where the parts of a message are: a `struct msghdr` of a 64-bit system, its `struct iovec`, one byte, descriptors. */
const [HEADER, VECTOR, DATA, CONTROL] = [0, 56, 72, 80]
const CONTROL_HEADER_BYTES = 16
const CONTROL_LENGTH = HEADER + 40

class Message {
  readonly #memory: Uint8Array<ArrayBuffer>
  readonly pointer

  constructor(count: number) {
    // The kernel rounds what it needs up to a multiple of eight.
    const controlBytes = CONTROL_HEADER_BYTES + Math.ceil(count / 2) * 8
    // From a buffer: an array that makes its buffer later moves to it, away from where C looks.
    this.#memory = new Uint8Array(new ArrayBuffer(CONTROL + controlBytes))
    this.pointer = library().ptr(this.#memory)
    const address = (at: number) => BigInt(this.pointer + at)
    const words = new BigUint64Array(this.#memory.buffer)
    words.set([address(VECTOR), 1n, address(CONTROL), BigInt(controlBytes)], (HEADER + 16) / 8)
    words.set([address(DATA), 1n], VECTOR / 8)
  }

  set descriptors(descriptors: readonly number[]) {
    const view = new DataView(this.#memory.buffer, CONTROL)
    view.setBigUint64(0, BigInt(CONTROL_HEADER_BYTES + descriptors.length * 4), true)
    view.setInt32(8, SOL_SOCKET, true)
    view.setInt32(12, SCM_RIGHTS, true)
    for (const [i, fd] of descriptors.entries()) view.setInt32(CONTROL_HEADER_BYTES + i * 4, fd, true)
  }

  get descriptors(): number[] {
    const view = new DataView(this.#memory.slice().buffer)
    if (view.getBigUint64(CONTROL_LENGTH, true) < CONTROL_HEADER_BYTES) return []
    const count = (Number(view.getBigUint64(CONTROL, true)) - CONTROL_HEADER_BYTES) / 4
    return Array.from({ length: count }, (_, i) => view.getInt32(CONTROL + CONTROL_HEADER_BYTES + i * 4, true))
  }
}

function check(result: number, what: string): number {
  if (result >= 0) return result
  const { __errno_location, read } = library()
  const location = __errno_location()
  const code = getSystemErrorName(-(location === null ? 0 : read.i32(location, 0)))
  throw Object.assign(new Error(`cannot ${what}: ${code}`), { code })
}
