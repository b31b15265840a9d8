import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { ThisHost } from '../this-host.ts'
import { MACOS_PLATFORM_DIRECTORIES } from './base-profile.ts'
import { MAC_SYSTEM } from './mac-system.ts'

const directory = realpathSync(mkdtempSync(join(tmpdir(), 'waldo-spelling-')))
after(() => rmSync(directory, { recursive: true }))
mkdirSync(join(directory, 'real/inner'), { recursive: true })
symlinkSync('real', join(directory, 'link'))

describe('paths on a Mac', () => {
  test('are those of what exists as the disk spells it, and otherwise as they were given', () => {
    const shouting = { ...MAC_SYSTEM, spell: (path: string) => path.toUpperCase() }
    const resolve = (path: string) => new ThisHost(undefined, shouting).resolve(join(directory, path)).path
    const real = join(directory, 'real').toUpperCase()
    assert.equal(resolve('link/inner'), `${real}/INNER`)
    assert.equal(resolve('link/new/er'), `${real}/new/er`)
  })

  test('are not those of a link that has come since they were looked at', () => {
    assert.equal(MAC_SYSTEM.spell(join(directory, 'link')), join(directory, 'link'))
    assert.equal(MAC_SYSTEM.spell(join(directory, 'real')), join(directory, 'real'))
    assert.equal(MAC_SYSTEM.spell(join(directory, 'gone')), join(directory, 'gone'))
  })

  test('include what programs need there', () => {
    assert.equal(new ThisHost(undefined, MAC_SYSTEM).platformDirectories, MACOS_PLATFORM_DIRECTORIES)
  })
})
