import assert from 'node:assert/strict'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import type { NativePath } from '../files/native-path.ts'
import { TreeWatch } from './tree-watch.ts'

/** Creates, writes, renames, links and removes at random, with names of which some are no text. */
const MUTATOR = `
const fs = require('node:fs')
const [root, seed, count] = process.argv.slice(1)
let state = Number(seed)
const random = (n) => ((state = (Math.imul(state, 1103515245) + 12345 >>> 0) % 2147483648) >> 12) % n
const names = ['a', 'b', 'c', 'd\\xff', 'e', '\\xc3\\xbc', 'g']
const somewhere = () => {
  let path = root
  for (let depth = 1 + random(4); depth > 0; depth--) path += '/' + names[random(names.length)]
  return Buffer.from(path, 'latin1')
}
for (let n = 0; n < Number(count); n++) {
  const [from, to] = [somewhere(), somewhere()]
  try {
    switch (random(10)) {
      case 0: case 1: fs.mkdirSync(from, { recursive: true }); break
      case 2: case 3: fs.writeFileSync(from, 'written ' + n); break
      case 4: fs.appendFileSync(from, ' appended ' + n); break
      case 5: case 6: case 7: fs.renameSync(from, to); break
      case 8: fs.symlinkSync('a', from); break
      case 9: if (random(3) === 0) fs.rmSync(from, { recursive: true }); break
    }
  } catch {}
}
`

type Replica = Map<string, string>

function look(path: Buffer): string | undefined {
  try {
    const found = lstatSync(path)
    if (found.isDirectory()) return 'directory'
    return found.isSymbolicLink() ? `link to ${readlinkSync(path)}` : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function list(root: string, replica: Replica = new Map()): Replica {
  const here = look(Buffer.from(root, 'latin1'))
  if (here === undefined) return replica
  replica.set(root, here)
  if (here !== 'directory') return replica
  try {
    for (const name of readdirSync(Buffer.from(root, 'latin1'), 'latin1')) list(`${root}/${name}`, replica)
  } catch {
    // It has been removed meanwhile, which the watch will tell.
  }
  return replica
}

function forget(replica: Replica, path: string): void {
  for (const known of replica.keys()) if (known === path || known.startsWith(`${path}/`)) replica.delete(known)
}

const bytesOf = (path: NativePath) => Buffer.from(path as string)

class Follower {
  replica: Replica
  #cursor: number
  readonly #watch: TreeWatch
  readonly #root: string

  constructor(watch: TreeWatch, root: string) {
    this.#watch = watch
    this.#root = root
    this.#cursor = watch.cursor
    this.replica = list(root)
  }

  catchUp(): void {
    const { cursor, changes, overflow } = this.#watch.since(this.#cursor)
    this.#cursor = cursor
    if (overflow) this.replica = list(this.#root)
    for (const { path, kind } of changes) {
      const bytes = bytesOf(path)
      const key = bytes.toString('latin1')
      const found = kind === 'removed' ? undefined : look(bytes)
      if (found !== 'directory') forget(this.replica, key)
      if (found !== undefined) this.replica.set(key, found)
    }
  }
}

const sorted = (replica: Replica) => [...replica].sort(([a], [b]) => (a < b ? -1 : 1))

async function follow(seed: number, { eager, flooded }: { eager: boolean; flooded: boolean }): Promise<void> {
  const root = mkdtempSync(`${tmpdir()}/waldo-watch-`)
  const watch = await TreeWatch.open(root, { recursive: true, coalesceMs: eager ? 1 : 20 })
  try {
    const follower = new Follower(watch, root)
    if (eager) watch.onChange(() => follower.catchUp())
    for (const round of [1, 2]) {
      const mutators = Array.from({ length: 1 + (seed % 3) }, (_, index) =>
        Bun.spawn([process.execPath, '-e', MUTATOR, root, String(seed * 31 + round * 7 + index), '2000']),
      )
      // Nothing is read until all these have come and gone, so that the system forgets some of what the others do.
      // After that everything must be watched again.
      if (flooded && round === 1) {
        Bun.spawnSync(['sh', '-c', 'seq 9000 | xargs touch; seq 9000 | xargs rm'], { cwd: root })
      }
      await Promise.all(mutators.map(({ exited }) => exited))
      const expected = sorted(list(root))
      // There is no event for "that was all".
      for (let tries = 0; tries < 500; tries++) {
        follower.catchUp()
        if (Bun.deepEquals(sorted(follower.replica), expected)) break
        await Bun.sleep(20)
      }
      assert.deepEqual(sorted(follower.replica), expected, `seed ${seed}, round ${round}`)
    }
  } finally {
    watch.close()
    rmSync(root, { recursive: true })
  }
}

describe('a replica that follows a watch', { skip: process.platform !== 'linux' && 'there is no inotify here' }, () => {
  // With SEEDS=100 in the environment it takes minutes, and looks harder.
  for (let seed = 1; seed <= Number(process.env.SEEDS ?? 6); seed++) {
    test(`equals the tree in the end, whatever happened meanwhile (${seed})`, () =>
      follow(seed, { eager: seed % 2 === 0, flooded: seed % 3 !== 1 }))
  }
})
