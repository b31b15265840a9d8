import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import { TreeWatch } from './tree-watch.ts'
import { watchMissing } from './watch-missing.ts'

/** What somebody else in this process watches files with. */
const OTHERS = all()
const descriptors = () => all() - OTHERS

function all(): number {
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // The one that lists the directory.
      return ''
    }
  })
  return targets.filter((target) => target.includes('inotify')).length
}

/** A stream closes its duplicate in another thread. */
async function allClosed(): Promise<void> {
  for (let tries = 0; tries < 1000 && descriptors() > 0; tries++) await Bun.sleep(5)
  assert.equal(descriptors(), 0)
}

async function inDirectory(use: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(`${tmpdir()}/waldo-inotify-`)
  try {
    await allClosed()
    await use(directory)
    await allClosed()
  } finally {
    rmSync(directory, { recursive: true })
  }
}

describe('inotify', { skip: process.platform !== 'linux' && 'there is none here' }, () => {
  test('takes one descriptor and its duplicate for all watches, and none after the last is closed', () =>
    inDirectory(async (directory) => {
      const open = () => TreeWatch.open(directory, { recursive: true, coalesceMs: 1 })
      const watches = await Promise.all([open(), open(), open()])
      const changed = new Promise<void>((resolve) => watches[0]!.onChange(resolve))
      mkdirSync(`${directory}/a/b`, { recursive: true })
      await changed
      const missing = watchMissing([`${directory}/no/such`], directory, () => {})
      assert.equal(descriptors(), 2)
      for (const watch of watches) watch.close()
      assert.equal(descriptors(), 2)
      missing?.stop()
    }))

  test('is closed when what was missing has appeared', () =>
    inDirectory(async (directory) => {
      const appeared = new Promise<void>((resolve) => watchMissing([`${directory}/f`], directory, resolve))
      writeFileSync(`${directory}/f`, '')
      await appeared
    }))

  test('is closed when there was nothing to watch', () =>
    inDirectory(async (directory) => {
      await assert.rejects(TreeWatch.open(`${directory}/no/such`, { recursive: true }))
      assert.equal(
        watchMissing([directory], undefined, () => {}),
        undefined,
      )
    }))

  test('can be closed and opened at any moment', () =>
    inDirectory(async (directory) => {
      for (let n = 0; n < 100; n++) {
        const watch = await TreeWatch.open(directory, { recursive: true, coalesceMs: 1 })
        const { cursor } = watch
        const changed = new Promise<void>((resolve) => watch.onChange(resolve))
        writeFileSync(`${directory}/${n}`, '')
        if (n % 2 === 0) {
          await changed
          assert.deepEqual(watch.since(cursor).changes, [{ path: `${directory}/${n}`, kind: 'created' }])
        }
        watch.close()
      }
    }))
})
