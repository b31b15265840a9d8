import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'

const LOCAL = JSON.stringify(join(import.meta.dir, '../index.ts'))

/** What `ulimit -Sn` says in a child of a program that a shell with a limit of 512 has started. */
async function limitOfGrandchild(openBefore: number): Promise<string> {
  const script = `
    const { defaultLogOptions, LogStore, ProcessHost } = await import(${LOCAL})
    for (let i = 0; i < ${openBefore}; i++) require('node:fs').openSync('/dev/null', 'r')
    const host = new ProcessHost(new LogStore({ ...defaultLogOptions, createSpillFile() { throw 0 }, onLoss() {} }))
    const environment = { env: { PATH: '/usr/bin:/bin' }, policy: undefined, toolCallId: undefined }
    const argv = ['sh', '-c', 'sleep 0.1; ulimit -Sn; ls /proc/self/fd | wc -l']
    const child = host.start({ argv, arg0: undefined, cwd: '/', environment, pipeStdin: false, terminal: undefined }, {})
    await child.closed
    const event = child.log.cursor(0).peek()
    console.log(new TextDecoder().decode(event.data).trim().replace('\\n', ' '))
    await host.close(0)
    process.exit()`
  const command = ['sh', '-c', 'ulimit -Sn 512; "$0" -e "$1"; true', process.execPath, script]
  return (await Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.text()).trim()
}

describe('the limit of open files', () => {
  test('of a child is that of our parent, not what Bun has raised ours to', async () => {
    assert.equal(await limitOfGrandchild(0), '512 4')
  })

  test('is the same when we ourselves have more files open than that', async () => {
    assert.equal(await limitOfGrandchild(600), '512 4')
  })
})
