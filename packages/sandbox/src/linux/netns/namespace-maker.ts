import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import {
  bringLoopbackUp,
  createTcpSocket,
  enterNetwork,
  listenOnLoopback,
  sendDescriptors,
  unshareNetwork,
} from './libc.ts'

/** Where the listener of every namespace is. It is alone there, so that the port is always free. */
export const LISTENER_PORT = 3128
const BACKLOG = 128

/** Where the one who starts us leaves the socket through which descriptors are handed out. */
const CHANNEL = 3
/** What a maker says, in a line of its own, when descriptors are in the channel. Any other line is a complaint. */
export const MADE = 'made'

const [STDIN, STDOUT] = [0, 1]

/**
 * The maker's side: makes a network namespace for every byte that comes on standard input, and ends with it. It must
 * run with CAP_SYS_ADMIN and CAP_NET_ADMIN in a user namespace of its own, in a network of its own.
 *
 * Nothing here waits for events. A namespace belongs to a thread, and all of this has to happen on one.
 */
export function serveNamespaces(): void {
  const home = openSync('/proc/thread-self/ns/net', 'r')
  const user = openSync('/proc/self/ns/user', 'r')
  const request = new Uint8Array(1)
  while (readSync(STDIN, request) > 0) {
    let answer = MADE
    try {
      handOutNamespace(home, user)
    } catch (error) {
      answer = (error as Error).message
    }
    writeSync(STDOUT, `${answer}\n`)
  }
}

function handOutNamespace(home: number, user: number): void {
  const ours: number[] = []
  try {
    unshareNetwork()
    const listener = createTcpSocket()
    ours.push(listener)
    bringLoopbackUp(listener)
    listenOnLoopback(listener, LISTENER_PORT, BACKLOG)
    const net = openSync('/proc/thread-self/ns/net', 'r')
    ours.push(net)
    sendDescriptors(CHANNEL, [listener, net, user])
  } finally {
    // Else we would keep it alive, also where we have failed half-way.
    enterNetwork(home)
    for (const fd of ours) closeSync(fd)
  }
}
