import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forEachAccount } from './escape/for-each-account.ts'
import { Trial } from './escape/trial.ts'

const CATCH_INTERRUPTS = [
  'import os, signal, time',
  'signal.signal(signal.SIGINT, lambda *_: os.write(1, b"caught-%d" % (40 + 2)))',
  'os.write(1, b"up-%d" % (1 + 1))',
  'while True: time.sleep(1)',
].join('\n')

/** An interactive shell on a terminal in a sandbox, which is told what to do line by line. */
class Shell implements AsyncDisposable {
  readonly #trial: Trial
  readonly id: string

  private constructor(trial: Trial, id: string) {
    this.#trial = trial
    this.id = id
  }

  static async open(trial: Trial): Promise<Shell> {
    const argv = ['/bin/bash', '--norc', '--noprofile', '-i']
    const { env } = trial.bench.commandDefaults(trial.surroundings)
    return new Shell(trial, await trial.start(argv, { tty: true, env: { ...env, PS1: 'ready> ', TERM: 'dumb' } }))
  }

  write(text: string): Promise<unknown> {
    return this.#trial.connection.raw.write(this.id, text)
  }

  /** What is printed is told from what is typed by a result that nobody types. */
  async until(pattern: RegExp): Promise<void> {
    const { raw } = this.#trial.connection
    const seen = raw.until(() => pattern.test(this.screen), `${pattern} on the terminal`)
    await seen.catch((error) => assert.fail(`${error.message}, which shows:\n${this.screen}`))
  }

  get screen(): string {
    return this.#trial.connection.raw.observed(this.id).pty
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#trial.connection.terminate(this.id)
    await this.#trial.connection.ended(this.id)
  }
}

forEachAccount('a terminal in a sandbox', (bench) => {
  test('brings Ctrl-C to the command in the foreground, and leaves the shell alone', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    await using shell = await Shell.open(trial)
    // One process: a shell that is stopped just when it starts another may hang, in a sandbox or not.
    await shell.write(`/usr/bin/python3 -ISc '${CATCH_INTERRUPTS}'\n`)
    await shell.until(/up-2/)
    await shell.write('\x03')
    await shell.until(/caught-42/)
    // The second does what it does to anybody who does not catch it.
    await shell.write('\x1a')
    await shell.until(/Stopped/)
    await shell.write('kill -9 %1; echo alive-$((40+3))\n')
    await shell.until(/alive-43/)
    assert.doesNotMatch(shell.screen, /no job control|cannot set terminal/)
  })

  test('stops a job with Ctrl-Z and takes it up again', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    await using shell = await Shell.open(trial)
    // The shell reads what is typed until the job has begun: nobody may type ahead.
    await shell.write("sh -c 'echo up-$((1+1)); exec cat'\n")
    await shell.until(/up-2/)
    await shell.write('before\n')
    await shell.until(/before[\s\S]*before/)
    await shell.write('\x1a')
    await shell.until(/Stopped/)
    await shell.write('jobs; echo jobs-$((6*7))\n')
    await shell.until(/\[1\]\+\s+Stopped\s+sh -c[\s\S]*jobs-42/)
    await shell.write('fg\n')
    await shell.until(/fg\s+sh -c/)
    await shell.write('after\n')
    await shell.until(/after[\s\S]*after/)
    await shell.write('\x04')
    await shell.write('sleep 0.2 & wait %1; echo waited-$((50+1))\n')
    await shell.until(/waited-51/)
    await shell.write('exit 7\n')
    assert.ok(await trial.connection.ended(shell.id))
    assert.equal(trial.connection.raw.observed(shell.id).exitCode, 7)
    await trial.endsWell()
  })

  test('has the size it is given, at first and later', async (context) => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const { processResize, processStartSize } = trial.connection.capabilities
    if (!(processResize && processStartSize) && !bench().isOwnServer) return context.skip('terminals cannot be resized')
    const script = 'trap "stty size; exit 5" WINCH; stty size; while :; do sleep 0.05; done'
    const id = await trial.start(script, { tty: true, size: { cols: 101, rows: 31 } })
    await trial.connection.raw.untilOutput(id, '31 101')
    await trial.connection.call('process/resize', { processId: id, cols: 77, rows: 33 })
    assert.ok(await trial.connection.ended(id))
    const { pty, exitCode } = trial.connection.raw.observed(id)
    assert.deepEqual([pty, exitCode], ['31 101\r\n33 77\r\n', 5])
  })

  test('can be opened by its name, and is not shared with anybody', async () => {
    await using trial = await Trial.open(bench(), { profile: 'ws' })
    const { pty } = await trial.run(
      'echo one > /dev/tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; ls /dev/pts | wc -l',
      {
        tty: true,
      },
    )
    const [one, all, terminals] = pty.split('\r\n')
    assert.deepEqual([one, all], ['one', 'all'])
    assert.ok(Number(terminals) <= 2)
  })
})
