import { spawnSync } from 'node:child_process'
import { arch, platform, release } from 'node:os'
import { VERSION } from '../version.ts'
import type { Machine } from './report.ts'

export function lookAtMachine(): Machine {
  return {
    version: VERSION,
    platform: platform(),
    arch: arch(),
    kernel: release(),
    user: { uid: process.getuid?.() ?? 0, name: userName() },
    // As the server looks for it.
    ripgrep: Bun.which('rg'),
  }
}

/** Null for numbers that nobody has given a name, as containers have them. Bun's own `userInfo` goes by the environment. */
function userName(): string | null {
  const { status, stdout } = spawnSync('id', ['-un'], { encoding: 'utf8', timeout: 2000, maxBuffer: 1024 })
  return status === 0 ? stdout.trim() : null
}
