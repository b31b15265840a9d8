import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Waits until something outside our control is so. */
export async function eventually(condition: () => boolean, what: string, timeoutMs = 15_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`)
    await delay(10)
  }
}

/** Processes whose command line contains the text. */
export function processesWith(text: string): number[] {
  return others('cmdline', (line) => line.replaceAll('\0', ' ').includes(text))
}

/** Zombies included. Not from its list of children: the kernel skips some of them if others end meanwhile. */
export function childrenOf(pid: number): number[] {
  // After the name, which may contain anything, come the state and the parent.
  return others('stat', (line) => line.slice(line.lastIndexOf(')') + 2).split(' ')[1] === String(pid))
}

/** The processes, but us, of which the file says so. */
function others(file: 'cmdline' | 'stat', isWanted: (text: string) => boolean): number[] {
  const found: number[] = []
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) continue
    try {
      if (isWanted(readFileSync(`/proc/${pid}/${file}`, 'latin1'))) found.push(Number(pid))
    } catch {
      // It has ended.
    }
  }
  return found
}

/** Not one that has ended and that nobody has asked for its exit code. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // Read in one go: between two looks it may be gone.
    return process.platform !== 'linux' || !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

export function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Resident memory, in MiB. */
export function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) / 1024
}
