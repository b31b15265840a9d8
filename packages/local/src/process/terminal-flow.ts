import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { setTerminalOutput } from '../libc.ts'

/** The kernel's number for terminals of this kind; the rest of the device number says which one it is. */
const PTY_MAJOR = 136

/**
 * Holds back whoever writes to the terminal of a process, as Ctrl-S would: Bun reads from its side whether we want more
 * or not. Returns how to let them go on; undefined if the process or its terminal is gone.
 */
export function holdTerminalOutput(leader: number): (() => void) | undefined {
  try {
    const stat = readFileSync(`/proc/${leader}/stat`, 'latin1')
    const device = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[4])
    if (((device >> 8) & 0xfff) !== PTY_MAJOR) return undefined
    const number = (device & 0xff) | ((device >> 12) & 0xfff00)
    // Without NOCTTY it could become our own controlling terminal.
    const fd = openSync(`/dev/pts/${number}`, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK)
    setTerminalOutput(fd, false)
    return () => {
      setTerminalOutput(fd, true)
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
