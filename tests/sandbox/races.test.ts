import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { forEachAccount } from './escape/for-each-account.ts'
import { sandboxContext, uri } from './escape/sandbox-context.ts'
import { Trial } from './escape/trial.ts'

const SWAP = readFileSync(join(import.meta.dir, 'escape/swap-links.py'), 'utf8')
const TURNS = 200
const DATA = Buffer.from('evil').toString('base64')

/** Somebody in the sandbox swaps what a name stands for, while the body goes on. */
async function whileSwapping(trial: Trial, args: readonly string[], body: () => Promise<void>): Promise<void> {
  const id = await trial.start(['/usr/bin/python3', '-c', SWAP, ...args])
  try {
    await trial.connection.raw.untilOutput(id, 'swapping')
    await body()
  } finally {
    await trial.connection.terminate(id)
    await trial.connection.ended(id)
  }
}

forEachAccount('a link that is swapped all the time', (bench) => {
  test('never leads a reader to what is denied', async () => {
    await using trial = await Trial.open(bench(), { profile: 'deny' })
    const path = uri(`${trial.ws}/l`)
    const seen = new Set<string>()
    await whileSwapping(trial, [`${trial.ws}/l`, 'f.txt', 'secret/key', 'a/b/prod.env'], async () => {
      for (let turn = 0; turn < TURNS || seen.size < 2; turn++) {
        for (const method of ['fs/readFile', 'fs/getMetadata', 'fs/canonicalize']) {
          const told = await trial.tell(method, { path })
          assert.doesNotMatch(told, /TOPSECRET|secret\/key"/)
          seen.add(told)
        }
        const destinationPath = uri(`${trial.ws}/copy${turn}`)
        await trial.call('fs/copy', { sourcePath: path, destinationPath, recursive: false })
      }
    })
    // A copy of the link is a link; everything else is a copy of what could be read.
    const copies = readdirSync(trial.ws, { withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { name } of copies) assert.doesNotMatch(readFileSync(join(trial.ws, name), 'latin1'), /TOPSECRET/)
    await trial.endsWell()
  })

  test('never leads a reader to what is hidden', async () => {
    await using trial = await Trial.open(bench(), { profile: 'min' })
    await whileSwapping(trial, [`${trial.ws}/l`, 'f.txt', `${trial.out}/keep.txt`], async () => {
      for (let turn = 0; turn < TURNS; turn++) {
        assert.doesNotMatch(await trial.tell('fs/readFile', { path: uri(`${trial.ws}/l`) }), /keep\n/)
        const handleId = `h${turn}`
        const { error } = await trial.call('fs/open', { handleId, path: uri(`${trial.ws}/l`) })
        if (error) continue
        assert.doesNotMatch(await trial.tell('fs/readBlock', { handleId, offset: 0, len: 100 }), /keep\n/)
        await trial.call('fs/close', { handleId })
      }
    })
    await trial.endsWell()
  })

  test('never leads a reader to the server itself', async () => {
    for (const profile of ['ro', 'ws'] as const) {
      await using trial = await Trial.open(bench(), { profile: 'ws' }, 'mkdir $WS/d; echo plain > $WS/d/environ')
      const sandbox = sandboxContext({ profile }, trial.ws)
      const read = async (path: string) => {
        const told = await trial.tell('fs/readFile', { path: uri(path), sandbox })
        assert.ok(!told.includes(bench().secret))
      }
      await whileSwapping(trial, [`${trial.ws}/l`, 'f.txt', '/proc/self/environ', '/dev/fd/0'], async () => {
        for (let turn = 0; turn < TURNS; turn++) await read(`${trial.ws}/l`)
      })
      await whileSwapping(trial, [`${trial.ws}/l`, 'd', '/proc/self'], async () => {
        for (let turn = 0; turn < TURNS; turn++) await read(`${trial.ws}/l/environ`)
      })
      await trial.endsWell()
    }
  })

  test('never leads a writer out of the workspace', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, 'mkdir $WS/d; echo inside > $WS/d/keep.txt')
    const there = (name: string) => uri(`${trial.ws}/l/${name}`)
    await whileSwapping(trial, [`${trial.ws}/l`, 'd', trial.out], async () => {
      for (let turn = 0; turn < TURNS; turn++) {
        const here = uri(`${trial.ws}/f.txt`)
        await trial.call('fs/writeFile', { path: there('keep.txt'), dataBase64: DATA })
        await trial.call('fs/writeFile', { path: there(`new${turn}`), dataBase64: DATA })
        await trial.call('fs/createDirectory', { path: there(`dir${turn}/deep`) })
        await trial.call('fs/copy', { sourcePath: here, destinationPath: there(`copy${turn}`), recursive: false })
        await trial.call('fs/append', { path: there('keep.txt'), dataBase64: DATA })
        await trial.call('fs/setMode', { path: there('keep.txt'), mode: 0o777 })
        await trial.call('fs/rename', { sourcePath: there(`new${turn}`), destinationPath: there(`moved${turn}`) })
        await trial.call('fs/remove', { path: there('keep.txt') })
      }
    })
    await trial.endsWell()
  })

  test('never leads a writer to a protected name', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, 'mkdir $WS/d')
    await whileSwapping(trial, [`${trial.ws}/l`, 'd', '.git'], async () => {
      for (let turn = 0; turn < TURNS; turn++) {
        for (const name of ['config', 'HEAD', `new${turn}`, 'hooks/pre-commit']) {
          await trial.call('fs/writeFile', { path: uri(`${trial.ws}/l/${name}`), dataBase64: DATA })
        }
        await trial.call('fs/createDirectory', { path: uri(`${trial.ws}/l/hooks`) })
        await trial.call('fs/remove', { path: uri(`${trial.ws}/l/config`) })
      }
    })
    await trial.endsWell()
  })
})

forEachAccount('a directory that changes places with a link out', (bench) => {
  const prepare = 'mkdir -p $WS/tree/x; echo inside > $WS/tree/x/keep.txt; ln -s $OUT $WS/other'

  test('does not lead a removal out of the workspace', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' }, prepare)
    await whileSwapping(trial, [`${trial.ws}/tree/x`, 'exchange', `${trial.ws}/other`], async () => {
      for (let turn = 0; turn < TURNS; turn++) {
        await trial.call('fs/remove', { path: uri(`${trial.ws}/tree`), recursive: true, force: true })
        await trial.call('fs/createDirectory', { path: uri(`${trial.ws}/tree/x`) })
        await trial.call('fs/writeFile', { path: uri(`${trial.ws}/tree/x/keep.txt`), dataBase64: DATA })
      }
    })
    await trial.endsWell()
  })

  test('does not lead a copy or a walk to what is hidden', async () => {
    await using trial = await Trial.open(bench(), { profile: 'min' }, prepare)
    const options = { maxDepth: 9, maxDirectories: 100, maxEntries: 1000, followDirectorySymlinks: true }
    await whileSwapping(trial, [`${trial.ws}/tree/x`, 'exchange', `${trial.ws}/other`], async () => {
      for (let turn = 0; turn < TURNS; turn++) {
        const walked = await trial.tell('fs/walk', { path: uri(`${trial.ws}/tree`), options })
        assert.doesNotMatch(walked, /dg\.sock|st\.sock/)
        const copy = `${trial.ws}/copy${turn % 10}`
        await trial.call('fs/copy', {
          sourcePath: uri(`${trial.ws}/tree`),
          destinationPath: uri(copy),
          recursive: true,
        })
        assert.doesNotMatch(await trial.tell('fs/readFile', { path: uri(`${copy}/x/keep.txt`) }), /keep\n/)
        await trial.call('fs/remove', { path: uri(copy) })
      }
    })
    await trial.endsWell()
  })
})

forEachAccount('a workspace that is replaced while a command runs', (bench) => {
  test('does not lead the command to where its name leads now', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const script = `i=0; while :; do echo x > ${trial.ws}/w 2>/dev/null; echo y > ${trial.ws}/pwn 2>/dev/null; i=$((i+1)); echo turn-$i-; sleep 0.02; done`
    const id = await trial.start(script)
    const turns = () => trial.connection.raw.observed(id).stdout.split('turn-').length
    const more = async () => {
      const now = turns()
      await trial.connection.raw.until(() => turns() > now + 5, 'the command to go on')
    }
    await more()
    trial.surroundings.runOnHost('mv ws moved; ln -s out ws')
    await more()
    trial.surroundings.runOnHost('rm ws; mv moved ws')
    await trial.connection.terminate(id)
    assert.ok(await trial.connection.ended(id))
    await trial.endsWell()
  })
})
