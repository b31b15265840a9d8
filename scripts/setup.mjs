// Installs the dependencies, once. Whoever comes second waits for whoever came first.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
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
    release()
    process.off('exit', release)
  }
}

function release() {
  rmSync(lock, { recursive: true, force: true })
}

function install() {
  console.error('Setting up: installing the dependencies (once)…')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const { status } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) {
    console.error(
      'The dependencies could not be installed: see above. Without a network there is no way; try again with one.',
    )
    process.exit(1)
  }
  // Bun's package fetches nothing: its own script puts the binary in place, unless npm was told not to run scripts.
  if (spawnSync(bun, ['--version']).status !== 0) {
    execFileSync(process.execPath, ['install.js'], { cwd: join(root, 'node_modules/bun'), stdio: ['ignore', 2, 2] })
  }
  writeFileSync(stamp, '')
}

/** The lock holds the process id of whoever is setting up. One who was interrupted is not waited for. */
async function acquire() {
  for (let told = false; ; ) {
    try {
      writeFileSync(lock, `${process.pid}`, { flag: 'wx' })
      process.once('exit', release)
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const holder = Number(readIfThere(lock))
    if (!isAlive(holder)) {
      release()
      continue
    }
    if (!told) console.error(`Waiting for another set-up to finish (process ${holder})…`)
    told = true
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function isAlive(pid) {
  // Whoever has just made the file has not written to it yet.
  if (!Number.isInteger(pid)) return false
  if (pid === 0) return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) < 5000
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}
