import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { MountPoint } from './mount-plan.ts'
import { MountPoints } from './mount-points.ts'

const MODULE = JSON.stringify(join(import.meta.dir, 'mount-points.ts'))

let directory: string
let stateDir: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waldo-mount-points-'))
  stateDir = join(directory, 'state')
  for (const name of ['w', 'out']) mkdirSync(join(directory, name))
})
afterEach(() => rmSync(directory, { recursive: true }))

const folder = (name = '.git'): MountPoint => ({ path: join(directory, 'w', name), kind: 'directory' })
const file = (name = 'new'): MountPoint => ({ path: join(directory, 'w', name), kind: 'file' })
const there = () => readdirSync(join(directory, 'w')).sort()

/** All that servers have written down, each of them in a file of its own. */
function journals(): MountPoint[][] {
  const names = readdirSync(join(stateDir, 'mount-points')).filter((name) => name.endsWith('.json'))
  return names.map((name) => JSON.parse(readFileSync(join(stateDir, 'mount-points', name), 'utf8')))
}

/** Another server: `points` are its mount points, and it says what it has to say with `print`. */
function start(script: string, { prefix = '' } = {}) {
  const text = `
    const { MountPoints } = await import(${MODULE})
    const points = new MountPoints(${JSON.stringify(stateDir)})
    const held = ${JSON.stringify([folder('.codex'), file('other')])}
    const print = (text) => process.stdout.write(text)
    ${script}`
  const command = ['sh', '-c', `${prefix} exec "$0" -e "$1"`, process.execPath, text]
  return Bun.spawn(command, { stdio: ['pipe', 'pipe', 'inherit'] })
}

describe('mount points', () => {
  test('are there as long as somebody needs them', () => {
    const points = new MountPoints(stateDir)
    const first = points.hold([folder(), file()])!
    const second = points.hold([folder(), folder('.codex')])!
    assert.deepEqual(there(), ['.codex', '.git', 'new'])
    assert.deepEqual(journals(), [[folder(), file(), folder('.codex')]])
    first()
    first()
    assert.deepEqual(there(), ['.codex', '.git'])
    second()
    assert.deepEqual([there(), journals()], [[], [[]]])
    points.close()
    assert.deepEqual(journals(), [])
  })

  test('leave no trace if none are needed', () => {
    const points = new MountPoints(stateDir)
    assert.equal(points.hold([]), undefined)
    points.sweep()
    points.close()
    assert.ok(!existsSync(stateDir))
  })

  test('are shared by servers, of which the last to leave removes them', () => {
    for (const order of [0, 1]) {
      const servers = [new MountPoints(stateDir), new MountPoints(stateDir)]
      const releases = servers.map((server) => server.hold([folder(), file()])!)
      releases[order]!()
      servers[order]!.close()
      assert.deepEqual(there(), ['.git', 'new'])
      releases[1 - order]!()
      servers[1 - order]!.close()
      assert.deepEqual([there(), journals()], [[], []])
    }
  })

  test('of a server that was killed are removed by the next, but not those that another needs', async () => {
    const other = new MountPoints(stateDir)
    const release = other.hold([file('other')])!
    const killed = start(
      `points.hold([...held, ${JSON.stringify(file('full'))}]); print('up'); setInterval(() => {}, 1e6)`,
    )
    await killed.stdout.getReader().read()
    assert.deepEqual(there(), ['.codex', 'full', 'other'])
    const next = new MountPoints(stateDir)
    next.sweep()
    assert.deepEqual(there(), ['.codex', 'full', 'other'])
    killed.kill('SIGKILL')
    await killed.exited
    writeFileSync(file('full').path, 'mine')
    next.sweep()
    assert.deepEqual([there(), journals()], [['full', 'other'], [[file('other')]]])
    release()
    assert.deepEqual(there(), ['full'])
  })

  test('stay if somebody has put something into them', () => {
    const points = new MountPoints(stateDir)
    const release = points.hold([folder(), file(), folder('.codex')])!
    writeFileSync(join(folder().path, 'config'), 'mine')
    writeFileSync(file().path, 'mine')
    release()
    assert.deepEqual(there(), ['.git', 'new'])
    points.close()
  })

  test('that cannot be made are an error, and those that could are taken back', () => {
    const points = new MountPoints(stateDir)
    const release = points.hold([folder()])!
    symlinkSync('../out', join(directory, 'w/link'))
    for (const point of [folder('no/where'), file('link/new'), folder('link/.git')]) {
      assert.throws(() => points.hold([folder(), file(), point]), { name: 'PolicyError' })
      assert.deepEqual([there(), journals()], [['.git', 'link'], [[folder()]]])
    }
    assert.deepEqual(readdirSync(join(directory, 'out')), [])
    release()
    assert.deepEqual(there(), ['link'])
    points.close()
  })

  test('are not made if they cannot be written down', async () => {
    const server = start('try { points.hold(held) } catch (error) { print(error.code) }', {
      prefix: "trap '' XFSZ; ulimit -f 0;",
    })
    assert.equal(await server.stdout.text(), 'EFBIG')
    assert.deepEqual(there(), [])
  })

  test('go even if that cannot be written down', async () => {
    const server = start(
      `const release = points.hold(held)
       Bun.spawnSync(['prlimit', '--fsize=0', '--pid', String(process.pid)])
       release()
       print('released')`,
      { prefix: "trap '' XFSZ;" },
    )
    assert.equal(await server.stdout.text(), 'released')
    assert.deepEqual(there(), [])
  })

  test('are not waited for if another server hangs', async () => {
    mkdirSync(join(stateDir, 'mount-points'), { recursive: true })
    const hanging = Bun.spawn(['flock', join(stateDir, 'mount-points/lock'), 'cat'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    hanging.stdin.write('up')
    await hanging.stdin.flush()
    await hanging.stdout.getReader().read()
    assert.throws(() => new MountPoints(stateDir).hold([folder()]), /lock is locked by another process/)
    assert.deepEqual(there(), [])
    await hanging.stdin.end()
    await hanging.exited
  })

  test('are known as what they are, until somebody uses them', () => {
    const [ours, theirs] = [new MountPoints(stateDir), new MountPoints(stateDir)]
    mkdirSync(folder('.aws').path)
    assert.deepEqual(
      [folder().path, folder('.aws').path].map((path) => ours.isSynthetic(path)),
      [false, false],
    )
    ours.hold([folder(), file()])
    assert.deepEqual(
      [folder(), file(), folder('.aws')].map(({ path }) => ours.isSynthetic(path)),
      [true, true, false],
    )
    assert.ok(theirs.isSynthetic(folder().path))
    writeFileSync(join(folder().path, 'HEAD'), 'ref: refs/heads/main')
    assert.deepEqual(
      [ours, theirs].map((each) => each.isSynthetic(folder().path)),
      [false, false],
    )
  })

  test('are not known from a journal that was cut off', () => {
    mkdirSync(join(stateDir, 'mount-points'), { recursive: true })
    mkdirSync(folder().path)
    const text = JSON.stringify([folder()])
    writeFileSync(join(stateDir, 'mount-points/1-x.json'), text.slice(0, -3))
    const points = new MountPoints(stateDir)
    assert.equal(points.isSynthetic(folder().path), false)
    points.sweep()
    assert.deepEqual([there(), journals()], [['.git'], []])
  })
})
