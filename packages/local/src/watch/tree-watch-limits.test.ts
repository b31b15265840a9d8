import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { describe, test } from 'node:test'

const onLinux = { skip: process.platform !== 'linux' && 'there is no inotify here' }

describe('where the system allows few watches', onLinux, () => {
  /** Runs a script in a user namespace, which has limits of its own. Undefined where that is not allowed. */
  function limited(limit: string, script: string): string | undefined {
    const shell = `echo ${limit} && exec "$0" -e "$1"`
    if (Bun.spawnSync(['unshare', '-Ur', 'sh', '-c', `echo ${limit}`]).exitCode !== 0) return undefined
    const { stdout, stderr, exitCode } = Bun.spawnSync(['unshare', '-Ur', 'sh', '-c', shell, process.execPath, script])
    assert.equal(exitCode, 0, stderr.toString())
    return stdout.toString()
  }

  const prelude = `
    const fs = require('node:fs')
    const { TreeWatch } = await import(${JSON.stringify(`${import.meta.dirname}/tree-watch.ts`)})
    const directory = fs.mkdtempSync(${JSON.stringify(`${tmpdir()}/waldo-watch-`)})
    process.on('exit', () => fs.rmSync(directory, { recursive: true }))
  `

  test('every batch says overflow, and what is watched is told nevertheless', (context) => {
    const told = limited(
      '20 > /proc/sys/user/max_inotify_watches',
      `${prelude}
      for (let n = 0; n < 50; n++) fs.mkdirSync(directory + '/' + n)
      const watch = await TreeWatch.open(directory, { recursive: true, coalesceMs: 1 })
      const { cursor } = watch
      const next = new Promise((resolve) => watch.onChange(resolve))
      fs.writeFileSync(directory + '/f', '')
      await next
      const { changes, overflow } = watch.since(cursor)
      console.log(JSON.stringify([changes.map(({ path }) => path.slice(directory.length)), overflow]))
      watch.close()`,
    )
    if (told === undefined) return context.skip('user namespaces are not allowed')
    assert.deepEqual(JSON.parse(told), [['/f'], true])
  })

  test('opening fails with a reason if there can be none at all', (context) => {
    const told = limited(
      '0 > /proc/sys/user/max_inotify_instances',
      `${prelude}
      console.log(await TreeWatch.open(directory, { recursive: true }).catch((error) => error.code))`,
    )
    if (told === undefined) return context.skip('user namespaces are not allowed')
    assert.equal(told.trim(), 'FILE_FAILED')
  })
})
