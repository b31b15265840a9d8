import assert from 'node:assert/strict'
import { closeSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Access } from '@waldo/protocol'
import { eventually } from '@waldo/testkit'
import { at, bind, special } from '../policy/fixtures/fake-host.ts'
import { ThisHost } from '../this-host.ts'
import { findBubblewrap, isolationArguments } from './bubblewrap.ts'
import { createMasks } from './mask-files.ts'
import { MemoryFile } from './memory-file.ts'
import { planMounts } from './mount-plan.ts'
import { StartCheck } from './start-check.ts'

let directory: string
const path = (name: string) => join(directory, name)
beforeEach(() => {
  directory = mkdtempSync('/var/tmp/waldo-start-check-')
  for (const name of ['w', 'w/r', 'w/r/.git', 'out']) mkdirSync(path(name))
})
afterEach(() => rmSync(directory, { recursive: true }))

const descriptors = () => readdirSync('/proc/self/fd').length
const nothingLeft = (before: number) => eventually(() => descriptors() <= before, 'nothing to be left open')

/** What is mounted if everything may be read, and some paths be written to. */
function planned(...entries: [Access, string][]) {
  const facts = new ThisHost()
  const said = entries.map(([access, name]) => ({ path: at(path(name)), access }))
  const files = bind({ entries: [{ path: special('root'), access: 'read' }, ...said] }, facts).files!
  const masks = createMasks(path('state'))
  const mounts = planMounts(files, {
    masks,
    matches: [],
    hidden: [],
    targetOf: () => assert.fail('there are no links'),
    look: (each) => facts.kindOf(each),
    couldBeMade: () => false,
  })
  return { files, mounts, deniedFile: masks.deniedFile }
}

/** Makes a sandbox that waits until it is told to begin. `meanwhile` happens after it was planned. */
async function start({ files, mounts, deniedFile }: ReturnType<typeof planned>, meanwhile: () => void) {
  const check = new StartCheck(mounts, files)
  meanwhile()
  const status = new MemoryFile()
  const handed = status.open('a')
  const isolation = isolationArguments({ mounts, sharesNetwork: true, terminal: false, deniedFile })
  const command = [findBubblewrap()!, ...isolation, '--json-status-fd', '3', '--block-fd', '4', 'echo', 'ran']
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit', handed, check.descriptor] })
  for (const fd of [handed, check.descriptor]) closeSync(fd)
  const pid = () => Number(/"child-pid": (\d+)/.exec(status.text())?.[1]) || undefined
  const passed = await check.passes(pid, 4)
  check.close()
  if (!passed) {
    // Long enough for it to begin, if it could.
    await Bun.spawn(['sleep', '0.05']).exited
    for (const each of [child.pid, pid()!]) process.kill(each, 'SIGKILL')
  }
  const output = await child.stdout.text()
  await child.exited
  status.close()
  return { passed, output }
}

describe('a sandbox that is looked at before it begins', () => {
  test('begins if what is mounted in it is what was meant', async () => {
    const before = descriptors()
    assert.deepEqual(await start(planned(['write', 'w'], ['read', 'w/r']), () => {}), { passed: true, output: 'ran\n' })
    await nothingLeft(before)
  })

  const tricks: Record<string, () => void> = {
    'leads elsewhere by a link': () => {
      renameSync(path('w/r'), path('w/gone'))
      symlinkSync('../out', path('w/r'))
    },
    'is another one': () => {
      renameSync(path('w/r'), path('w/gone'))
      renameSync(path('out'), path('w/r'))
    },
  }
  for (const [title, trick] of Object.entries(tricks)) {
    test(`never begins if a directory ${title} meanwhile`, async () => {
      const before = descriptors()
      for (const access of ['write', 'read'] as const) {
        const plan = planned(['write', 'w'], [access, 'w/r'], ['read', 'w/r/.git'])
        mkdirSync(path('out/.git'), { recursive: true })
        assert.deepEqual(await start(plan, trick), { passed: false, output: '' })
        rmSync(path('w'), { recursive: true })
        for (const name of ['w', 'w/r', 'w/r/.git', 'out']) mkdirSync(path(name), { recursive: true })
      }
      await nothingLeft(before)
    })
  }

  test('never begins if something else is mounted than was planned', async () => {
    const [narrow, wide] = [planned(['write', 'w/r']), planned(['write', 'w/r'], ['write', 'out'])]
    assert.deepEqual(await start({ ...narrow, mounts: wide.mounts }, () => {}), { passed: false, output: '' })
    const missing = { ...narrow, mounts: { ...narrow.mounts, pinned: wide.mounts.pinned } }
    assert.deepEqual(await start(missing, () => {}), { passed: false, output: '' })
  })

  test('is not planned at all if there is a link already, or nothing', async () => {
    const { files, mounts } = planned(['write', 'w'])
    const before = descriptors()
    symlinkSync('w', path('l'))
    for (const name of ['l', 'l/r', 'no']) {
      const refused = { ...mounts, bound: [path('w'), path(name)] }
      assert.throws(() => new StartCheck(refused, files), { name: 'PolicyError', message: /is being replaced/ })
    }
    await nothingLeft(before)
  })

  test('may be gone when it is to begin, or never come', async () => {
    const { files, mounts } = planned(['write', 'w'])
    const before = descriptors()
    const waiting = Bun.spawn(['cat'], { stdio: ['pipe', 'ignore', 'ignore'] })
    const check = new StartCheck({ ...mounts, pinned: [] }, files)
    closeSync(check.descriptor)
    assert.equal(await check.passes(() => waiting.pid, 0), false)
    check.close()
    waiting.kill()
    await waiting.exited
    const unused = new StartCheck(mounts, files)
    const passed = unused.passes(() => undefined, 4)
    unused.discard()
    unused.close()
    assert.equal(await passed, false)
    await nothingLeft(before)
  })
})
