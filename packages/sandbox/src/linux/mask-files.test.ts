import assert from 'node:assert/strict'
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createMasks } from './mask-files.ts'

let stateDir: string
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'waldo-masks-'))
})
afterEach(() => rmSync(stateDir, { recursive: true }))

/** What is in the directory of the masks, with the modes. */
function made(): string[] {
  const directory = join(stateDir, 'masks')
  const describe = (path: string) => {
    const stats = lstatSync(path)
    return `${(stats.mode & 0o7777).toString(8)} ${stats.isDirectory() ? 'directory' : 'file'} ${basename(path)}`
  }
  return [
    directory,
    ...readdirSync(directory)
      .sort()
      .map((name) => join(directory, name)),
  ].map(describe)
}
const ALL = [
  '700 directory masks',
  '0 directory denied-directory',
  '0 file denied-file',
  '555 directory empty-directory',
  '444 file empty-file',
]

describe('what is mounted over others', () => {
  test('is empty, and lies where only we get', () => {
    const masks = createMasks(stateDir)
    assert.deepEqual(made(), ALL)
    assert.deepEqual(
      Object.values(masks)
        .map((path) => basename(path))
        .sort(),
      ALL.slice(1)
        .map((line) => line.split(' ')[2])
        .sort(),
    )
  })

  test('is made once, whatever has become of it', () => {
    createMasks(stateDir)
    const before = lstatSync(join(stateDir, 'masks/denied-file')).ino
    chmodSync(join(stateDir, 'masks'), 0o777)
    chmodSync(join(stateDir, 'masks/denied-file'), 0o666)
    createMasks(stateDir)
    assert.deepEqual(made(), ALL)
    assert.equal(lstatSync(join(stateDir, 'masks/denied-file')).ino, before)
  })

  test('is not taken from somebody else', (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can give files away')
    mkdirSync(join(stateDir, 'masks'))
    chownSync(join(stateDir, 'masks'), 1234, 1234)
    assert.throws(() => createMasks(stateDir), /belongs to somebody else/)
  })
})
