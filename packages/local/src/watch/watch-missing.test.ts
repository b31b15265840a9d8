import assert from 'node:assert/strict'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'
import { ExecError } from '@waldo/environment'
import type { NativePath } from '../files/native-path.ts'
import { watchMissing } from './watch-missing.ts'

interface Place {
  path(name: string): string
  shell(script: string): void
}

async function inDirectory(use: (place: Place) => Promise<void> | void): Promise<void> {
  const directory = fs.mkdtempSync(`${tmpdir()}/waldo-missing-`)
  try {
    await use({
      path: (name) => `${directory}/${name}`,
      shell(script) {
        const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', script], { cwd: directory })
        assert.equal(exitCode, 0, stderr.toString())
      },
    })
  } finally {
    fs.rmSync(directory, { recursive: true })
  }
}

/** Resolves when it is told. */
function watching(missing: NativePath[], present?: NativePath) {
  const { promise, resolve } = Promise.withResolvers<void>()
  let told = 0
  const watch = watchMissing(missing, present, () => {
    told++
    resolve()
  })
  return { watch, told: promise, times: () => told }
}

/** Everything that has happened was told when this, which happened after it, is. */
async function settled({ path }: Place): Promise<void> {
  const { told } = watching([path('settled')])
  fs.writeFileSync(path('settled'), '')
  await told
  fs.rmSync(path('settled'))
}

describe('watching for what is missing', () => {
  test('tells when the path appears, through directories that were not there', () =>
    inDirectory(async ({ path, shell }) => {
      const { told } = watching([path('a/b/c')])
      shell('mkdir -p a/b; echo > a/b/c')
      await told
    }))

  test('steps down as the directories appear one after the other, and starts again when they vanish', () =>
    inDirectory(async (place) => {
      const { told, times } = watching([place.path('a/b/c')])
      for (const script of ['mkdir a', 'mkdir a/b', 'mv a elsewhere', 'mkdir a', 'rmdir a', 'mkdir -p a/b']) {
        place.shell(script)
        await settled(place)
        assert.equal(times(), 0, script)
      }
      place.shell('echo > a/b/c')
      await told
    }))

  test('tells once, for the first of several paths', () =>
    inDirectory(async (place) => {
      const { told, times } = watching([place.path('x/y'), place.path('z')], place.path('.'))
      place.shell('echo > z; mkdir x; echo > x/y')
      await told
      await settled(place)
      assert.equal(times(), 1)
    }))

  test('tells when something that is there disappears, even with a directory above it', () =>
    inDirectory(async ({ path, shell }) => {
      for (const script of ['rm a/b/f', 'rm -r a', 'mv a z', 'mv a/b z; ln -s nowhere a/b']) {
        shell('rm -rf a z; mkdir -p a/b; echo > a/b/f')
        const { told } = watching([path('missing')], path('a/b/f'))
        shell(script)
        await told
      }
    }))

  test('stays silent while a file that is there is replaced', () =>
    inDirectory(async (place) => {
      place.shell('echo > f')
      const { watch, times } = watching([place.path('missing')], place.path('f'))
      place.shell('echo > new; mv new f; echo more >> f')
      await settled(place)
      assert.equal(times(), 0)
      watch?.stop()
    }))

  test('follows links: to a directory, to what is missing, and to another place than before', () =>
    inDirectory(async (place) => {
      const { path, shell } = place
      const cases = [
        ['mkdir real; ln -s real link', 'echo > real/f'],
        ['mkdir link; ln -s ../target link/f', 'echo > target'],
        [`mkdir link; ln -s ${path('far/target')} link/f`, 'mkdir far; echo > far/target'],
        ['mkdir one two; echo > two/f; ln -s one link', 'ln -sfn two link'],
        ['ln -s link link', 'rm link; mkdir link; echo > link/f'],
      ] as const
      for (const [before, after] of cases) {
        shell(`rm -rf ./*; ${before}`)
        const { told, times } = watching([path('link/f')])
        await settled(place)
        assert.equal(times(), 0)
        shell(after)
        await told
      }
    }))

  test('takes names that are no text', () =>
    inDirectory(async ({ path }) => {
      const name = Buffer.concat([Buffer.from(path('f')), Buffer.from([0xff])])
      const { told } = watching([name])
      fs.writeFileSync(name, '')
      await told
    }))

  test('does not begin if there is something to tell already', () =>
    inDirectory(({ path }) => {
      fs.writeFileSync(path('f'), '')
      assert.equal(watching([path('missing'), path('f')]).watch, undefined)
      assert.equal(watching([path('missing')], path('also-missing')).watch, undefined)
    }))

  test('is never told after it was stopped', () =>
    inDirectory(async (place) => {
      const { watch, times } = watching([place.path('f')])
      place.shell('echo > f')
      watch?.stop()
      await settled(place)
      assert.equal(times(), 0)
    }))

  test('refuses more paths than it can watch, and paths that are none', () => {
    const invalid = (error: unknown) => ExecError.is(error, 'FILE_INVALID')
    const many = Array.from({ length: 65 }, (_, n) => `/no/such/${n}`)
    assert.throws(() => watchMissing(many, undefined, () => {}), invalid)
    assert.throws(() => watchMissing(['relative'], undefined, () => {}), invalid)
    assert.throws(() => watchMissing(['/no\0'], undefined, () => {}), invalid)
  })

  test('misses nothing that another process creates at just that moment', () =>
    inDirectory(async ({ path }) => {
      const script = `for (let n = 0; n < 300; n++) {
        require('fs').mkdirSync('d' + n); require('fs').mkdirSync('d' + n + '/e'); require('fs').writeFileSync('d' + n + '/e/f', '')
      }`
      const creator = Bun.spawn([process.execPath, '-e', script], { cwd: path('') })
      for (let n = 0; n < 300; n++) {
        const { watch, told } = watching([path(`d${n}/e/f`)])
        if (watch) await told
      }
      assert.equal(await creator.exited, 0)
    }))

  test('looks from time to time where the system allows no watch', (context) => {
    const script = `
      const fs = require('node:fs')
      const { watchMissing } = await import(${JSON.stringify(`${import.meta.dirname}/watch-missing.ts`)})
      const directory = fs.mkdtempSync(${JSON.stringify(`${tmpdir()}/waldo-missing-`)})
      process.on('exit', () => fs.rmSync(directory, { recursive: true }))
      const alive = setInterval(() => {}, 60_000)
      watchMissing([directory + '/a/f'], undefined, () => clearInterval(alive))
      fs.mkdirSync(directory + '/a')
      fs.writeFileSync(directory + '/a/f', '')`
    const limit = 'echo 0 > /proc/sys/user/max_inotify_instances'
    const unshare = (...shell: string[]) => Bun.spawnSync(['unshare', '-Ur', 'sh', '-c', ...shell])
    if (unshare(limit).exitCode !== 0) return context.skip('user namespaces are not allowed')
    const { exitCode, stderr } = unshare(`${limit} && exec "$0" -e "$1"`, process.execPath, script)
    assert.equal(exitCode, 0, stderr.toString())
  })
})
