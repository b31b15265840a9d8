import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { landlockVersion } from './landlock.ts'

const directory = mkdtempSync('/var/tmp/waldo-landlock-')
after(() => rmSync(directory, { recursive: true, force: true }))
const [inside, outside] = [join(directory, 'inside'), join(directory, 'outside')]
mkdirSync(inside)
mkdirSync(outside)

/** Restricts itself, becomes another program, and tries to write to both places in several ways. */
const PROGRAM = `
import { promises, renameSync, writeFileSync } from 'node:fs'
import { restrictWrites } from '${import.meta.dir}/landlock.ts'
import { replaceProcess } from '${import.meta.dir}/replace-process.ts'
const [inside, outside] = ${JSON.stringify([inside, outside])}
if (process.env.RESTRICT) {
  restrictWrites([inside, '/dev/null'])
  replaceProcess([process.execPath, ...process.execArgv, process.argv[1]], { PATH: process.env.PATH, SECOND: 'yes' })
}
const attempt = async (name, act) => console.log(name, await Promise.resolve().then(act).then(() => 'done', ({ code }) => code))
await attempt('successor', () => { if (process.env.SECOND !== 'yes') throw { code: 'none' } })
await attempt('write inside', () => writeFileSync(inside + '/a', 'x'))
await attempt('write inside later', () => promises.writeFile(inside + '/b', 'x'))
await attempt('move inside', () => renameSync(inside + '/a', inside + '/c'))
await attempt('write outside', () => writeFileSync(outside + '/a', 'x'))
await attempt('write outside later', () => promises.writeFile(outside + '/a', 'x'))
await attempt('change outside', () => writeFileSync(outside + '/there', 'changed'))
await attempt('move out', () => renameSync(inside + '/c', outside + '/c'))
await attempt('child', () => { if (Bun.spawnSync(['sh', '-c', 'echo x > ' + outside + '/d']).exitCode !== 0) throw { code: 'refused' } })
await attempt('read outside', () => promises.readFile(outside + '/there'))
`

describe('a process that restricts itself', { skip: landlockVersion() === 0 && 'this kernel has no Landlock' }, () => {
  test('changes nothing elsewhere any more, in whatever thread or child', async () => {
    const program = join(directory, 'program.ts')
    writeFileSync(program, PROGRAM)
    writeFileSync(join(outside, 'there'), 'as it was')
    const child = Bun.spawn([process.execPath, program], {
      env: { PATH: process.env.PATH!, RESTRICT: 'yes' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const lines = (await child.stdout.text()).trim().split('\n')
    assert.deepEqual(lines, [
      'successor done',
      'write inside done',
      'write inside later done',
      'move inside done',
      'write outside EACCES',
      'write outside later EACCES',
      'change outside EACCES',
      'move out EACCES',
      'child refused',
      'read outside done',
    ])
    assert.equal(readFileSync(join(outside, 'there'), 'utf8'), 'as it was')
  })
})
