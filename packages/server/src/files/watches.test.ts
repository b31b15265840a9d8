import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { after, afterEach, describe, test } from 'node:test'
import { MountTable } from '@waldo/local/files'
import { TreeWatch } from '@waldo/local/watch'
import { fromPosixPath, methods, type Params } from '@waldo/protocol'
import { FileRules } from '@waldo/sandbox'
import { ThisHost } from '@waldo/sandbox/linux'
import { eventually } from '@waldo/testkit'
import type { SandboxedFiles } from './sandboxed-files.ts'
import { SessionWatches } from './session-watches.ts'
import { Watches } from './watches.ts'

const root = realpathSync(mkdtempSync('/var/tmp/waldo-watches-'))
mkdirSync(`${root}/w/secret`, { recursive: true })
symlinkSync('w', `${root}/link`)
after(() => rmSync(root, { recursive: true }))

/** Everything may be read but one directory. */
const facts = new ThisHost()
const rules = new FileRules({
  rules: [
    { ...facts.resolve('/'), access: 'read', origin: 'root', protects: [] },
    { ...facts.resolve(`${root}/w/secret`), access: 'deny', origin: 'secret', protects: [] },
  ],
  globs: [],
  globDepth: undefined,
})

const session = new SessionWatches()
const sent: string[] = []
const watches = new Watches({
  sandboxed: { accessFor: () => rules && { rules } } as unknown as SandboxedFiles,
  open: (path, options) => TreeWatch.open(path, options),
  mounts: new MountTable(),
  watches: session,
  send: (text) => sent.push(text),
  hasRoom: () => true,
})
after(() => {
  watches.close()
  session.close()
})
afterEach(() => {
  watches.unwatch({ watchId: 'w' })
  sent.length = 0
})

const watch = (path: string) => watches.watch(methods['fs/watch'].params({ watchId: 'w', path }) as Params<'fs/watch'>)

describe('a watch in a sandbox', () => {
  for (const name of ['w', 'w/', 'w//', 'link', 'link/', './w']) {
    test(`of ${name} tells nothing of what is denied, and everything else`, async () => {
      await watch(`file://${root}/${name}`)
      writeFileSync(`${root}/w/secret/key`, String(Math.random()))
      writeFileSync(`${root}/w/seen`, String(Math.random()))
      await eventually(() => sent.join().includes('/seen'), 'the change that may be seen')
      assert.doesNotMatch(sent.join(), /key/)
    })
  }

  test('of what is denied is refused', async () => {
    for (const name of ['w/secret', 'w//secret/', 'link/secret']) {
      await assert.rejects(watch(`file://${root}/${name}`), { code: 'FILE_DENIED' })
    }
    await assert.rejects(watch(fromPosixPath(`${root}/w/../w/secret`)), { code: 'FILE_DENIED' })
    await assert.rejects(watch(fromPosixPath(`${root}/no/../w/secret`)), { code: 'FILE_INVALID' })
  })
})
