import assert from 'node:assert/strict'
import { lstatSync, readdirSync, readFileSync, rmdirSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CallError } from '@waldo/testkit'
import { forEachAccount } from './escape/for-each-account.ts'
import { sandboxContext, uri } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

const SWAP = readFileSync(join(import.meta.dir, 'escape/swap-links.py'), 'utf8')
const STARTS = 150
const PROTECTED = ['.git', '.agents', '.codex', '.aws', '.waldo']
const PREPARE = 'mkdir -p $WS/r $WS/r/prot; echo good > $WS/r/prot/f; ln -s ../out $WS/other'

/**
 * Somebody who may write to the workspace exchanges a directory in it for a link out of it, all the time, while others
 * are started whose profile names the directory. Everything that happens in the directory outside is told, even if
 * it is undone at once; but bubblewrap makes what it wants to mount on before anybody can see where. Those names may
 * appear, with nothing in them.
 */
async function whileExchanging(
  trial: Trial,
  start: () => Promise<void>,
  mayAppear: readonly string[] = [],
): Promise<void> {
  const told: string[] = []
  const watcher = watch(trial.out, (event, name) => {
    if (!mayAppear.includes(String(name))) told.push(`${event} ${name}`)
  })
  const swapper = ['/usr/bin/python3', '-c', SWAP, `${trial.ws}/r`, 'exchange', `${trial.ws}/other`]
  const id = await trial.start(swapper)
  try {
    await trial.connection.raw.untilOutput(id, 'swapping')
    for (let n = 0; n < STARTS; n++) await start()
  } finally {
    await trial.connection.terminate(id)
    await trial.connection.ended(id)
    watcher.close()
  }
  assert.deepEqual(told, [])
  for (const name of mayAppear) removeEmpty(join(trial.out, name))
  await trial.endsWell()
}

forEachAccount('a directory that is exchanged for a link out while commands are started', (bench) => {
  test('does not become a workspace root elsewhere', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, PREPARE)
    const sandbox = () => sandboxContext({ profile: 'ws', roots: [trial.ws, `${trial.ws}/r`] }, trial.ws)
    const script = `cd ${trial.ws}/r; echo x > pwn; echo x > keep.txt; mkdir .codex; ls -A`
    const start = async () => void (await trial.run(script, { sandbox: sandbox() }).catch(refused))
    await whileExchanging(trial, start, PROTECTED)
  })

  test('does not become a workspace root elsewhere for calls', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, PREPARE)
    const sandbox = () => sandboxContext({ profile: 'ws', roots: [trial.ws, `${trial.ws}/r`] }, trial.ws)
    const call = async () => {
      const path = uri(`${trial.ws}/r/keep.txt`)
      await trial.call('fs/writeFile', { path, dataBase64: 'eA==', sandbox: sandbox() })
      await trial.call('fs/createDirectory', { path: uri(`${trial.ws}/r/.codex/x`), sandbox: sandbox() })
    }
    await whileExchanging(trial, call, PROTECTED)
  })

  test('has at most empty names made behind it', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, PREPARE)
    const entries = [`read ${trial.ws}/r/missing`, `deny ${trial.ws}/r/hidden/deep`, `read ${trial.ws}/r/prot`]
    const sandbox = () => sandboxContext({ profile: 'ws', entries }, trial.ws)
    const list = () => trial.run(`ls ${trial.ws}/r`, { sandbox: sandbox() })
    const start = async () => void (await list().catch(refused))
    await whileExchanging(trial, start, ['missing', 'hidden', 'prot', ...PROTECTED])
  })
})

/** Fails if there is any content in it. */
function removeEmpty(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats) return
  if (stats.isDirectory()) {
    for (const name of readdirSync(path)) removeEmpty(join(path, name))
    rmdirSync(path)
  } else {
    assert.equal(stats.size, 0)
    rmSync(path)
  }
}

function refused(error: unknown): void {
  if (!(error instanceof CallError)) throw error
}
