import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Whether one of the processes has the end of a connection of this machine that is at `port`, the other being at `peerPort`. */
export function ownsConnection(pids: readonly number[], port: number, peerPort: number): boolean {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => socketsIn(table, port, peerPort)))
  return sockets.size > 0 && pids.some((pid) => descriptorsOf(pid).some((target) => sockets.has(target)))
}

/** As the links of their descriptors name them. */
function socketsIn(table: string, port: number, peerPort: number): string[] {
  const lines = readOrEmpty(`/proc/self/net/${table}`).split('\n').slice(1)
  return lines.flatMap((line) => {
    // Number, local address, remote address, and seven more before the inode.
    const fields = line.trim().split(/\s+/)
    return portOf(fields[1]) === port && portOf(fields[2]) === peerPort ? [`socket:[${fields[9]}]`] : []
  })
}

function portOf(address: string | undefined): number {
  return Number.parseInt(address?.split(':')[1] ?? '', 16)
}

function descriptorsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`))
  } catch {
    return [] // It has ended.
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return '' // Closed meanwhile.
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return '' // No IPv6 here.
  }
}
