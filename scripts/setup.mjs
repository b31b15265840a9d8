// Installs the dependencies, once. Whoever comes second waits for whoever came first.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const stamp = join(root, 'node_modules/.waldo-setup')
const lock = join(root, '.setup-lock')
const bun = join(root, 'node_modules/.bin/bun')

const isCurrent = () =>
  existsSync(stamp) && statSync(stamp).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs

if (!isCurrent()) {
  await acquire()
  try {
    if (!isCurrent()) install()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function install() {
  console.error('Setting up: installing the dependencies (once)…')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  execFileSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] })
  // Bun's package fetches nothing: its own script puts the binary in place, unless npm was told not to run scripts.
  if (spawnSync(bun, ['--version']).status !== 0) {
    execFileSync(process.execPath, ['install.js'], { cwd: join(root, 'node_modules/bun'), stdio: ['ignore', 2, 2] })
  }
  writeFileSync(stamp, '')
}

async function acquire() {
  for (;;) {
    try {
      mkdirSync(lock)
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    // An installation that takes longer than this was interrupted.
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    if (age > 10 * 60_000) rmSync(lock, { recursive: true, force: true })
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
