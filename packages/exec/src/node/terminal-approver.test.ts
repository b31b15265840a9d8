import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '@waldo/testkit'
import type { ApprovalRequest } from '../approvals/approver.ts'
import { commandSubject, sampleRequest } from '../approvals/fixtures/sample-request.ts'
import { TerminalApprover } from './terminal-approver.ts'

const NEVER = new AbortController().signal

/** Says what there was instead, if it does not. */
async function appears(text: () => string, wanted: string, times: number): Promise<void> {
  try {
    await eventually(() => text().split(wanted).length > times, wanted)
  } catch (error) {
    throw new Error(`${(error as Error).message}; there is ${JSON.stringify(text())}`)
  }
}

/** Plain streams, and what has been written. */
function page() {
  const input = new PassThrough()
  const output = new PassThrough()
  let text = ''
  output.on('data', (data) => {
    text += data
  })
  const approver = new TerminalApprover({ input, output })
  const shows = (wanted: string, times = 1) => appears(() => text, wanted, times)
  const ask = (more: Partial<ApprovalRequest> = {}, signal = NEVER) => approver.ask(sampleRequest(more), signal)
  return { input, output, ask, shows, text: () => text }
}

describe('a question in plain text', () => {
  test('offers what makes sense, and gives what was chosen', async () => {
    const amendment = { prefix: ['npm', 'test'] }
    const decisions = ['approved', 'approved_for_session', 'approved_execpolicy_amendment'] as const
    const lasting = { kind: 'approved_execpolicy_amendment', amendment } as const
    const answers = [
      ['y', { kind: 'approved' }],
      ['s', { kind: 'approved_for_session' }],
      ['p', { ...lasting, scope: 'project' }],
      ['U', { ...lasting, scope: 'user' }],
      ['q', { kind: 'abort' }],
    ] as const
    for (const [key, decision] of answers) {
      const { input, ask, shows, text } = page()
      const asked = ask({ amendment, decisions })
      await shows('answer> ')
      assert.match(text(), /Run this command\?\n {2}\| npm test\n/)
      const offered = [...text().matchAll(/^\[(.)\] /gm)].map(([, offer]) => offer).join('')
      assert.equal(offered, 'yspunq')
      input.write(`${key}\n`)
      assert.deepEqual(await asked, decision)
    }
  })

  test('says before it is answered what a yes leads to, and how far it reaches', async () => {
    const { input, ask, shows, text } = page()
    const asked = ask({ sandbox: { kind: 'inside', thenOutside: true }, justification: 'it is safe' })
    await shows('answer> ')
    assert.match(text(), /\n {2}sandbox {2}inside, then OUTSIDE: /)
    assert.match(text(), /\n {2}model {4}says, in its own words, .*\n {11}\| it is safe\n/)
    assert.match(text(), /\n\[s\] yes, for this conversation: the same command, here, with the same sandbox\n/)
    input.write('s\n')
    assert.deepEqual(await asked, { kind: 'approved_for_session' })
  })

  test('asks again for everything else, also for what is not offered', async () => {
    const { input, ask, shows } = page()
    const asked = ask({ decisions: ['approved'] })
    for (const [index, said] of ['', 'yes', 's', 'p', '\u0000'].entries()) {
      await shows('answer> ', index + 1)
      input.write(`${said}\n`)
      await shows('please type one of y, n, q', index + 1)
    }
    await shows('answer> ', 6)
    input.write('y\n')
    assert.deepEqual(await asked, { kind: 'approved' })
  })

  test('takes a no with a reason for the model, or without', async () => {
    for (const [said, rejection] of [
      ['use yarn', { rejection: 'use yarn' }],
      ['', {}],
    ] as const) {
      const { input, ask, shows } = page()
      const asked = ask()
      await shows('answer> ')
      input.write('n\n')
      await shows('why, for the model')
      input.write(`${said}\n`)
      assert.deepEqual(await asked, { kind: 'denied', ...rejection })
    }
  })

  test('about a host can be answered for good', async () => {
    const { input, ask, shows } = page()
    const subject = { kind: 'network', host: 'a.test', port: 80, protocol: 'http', command: ['curl'] } as const
    const asked = ask({ subject, decisions: ['approved', 'network_policy_amendment'] })
    await shows('answer> ')
    input.write('p\n')
    const decision = { kind: 'network_policy_amendment', host: 'a.test', action: 'allow', scope: 'project' }
    assert.deepEqual(await asked, decision)
  })

  test('is over with the input, before or after it is shown', async () => {
    const { input, ask, shows } = page()
    const asked = ask()
    await shows('answer> ')
    input.end()
    assert.deepEqual(await asked, { kind: 'abort' })
    assert.deepEqual(await ask(), { kind: 'abort' })
  })

  test('is not answered by what was typed before it', async () => {
    const { input, ask, shows } = page()
    input.write('y\ny\n')
    const asked = ask()
    await shows('answer> ')
    input.write('n\n')
    await shows('why, for the model')
    input.write('\n')
    assert.deepEqual(await asked, { kind: 'denied' })
  })

  test('waits for the one before it', async () => {
    const { input, ask, shows, text } = page()
    const first = ask({ subject: commandSubject(['first']) })
    const second = ask({ subject: commandSubject(['second']) })
    await shows('answer> ')
    assert.doesNotMatch(text(), /second/)
    input.write('y\n')
    assert.deepEqual(await first, { kind: 'approved' })
    await shows('answer> ', 2)
    assert.match(text(), /second/)
    input.write('q\n')
    assert.deepEqual(await second, { kind: 'abort' })
  })

  test('leaves the screen when nobody waits any more, and the next one comes', async () => {
    const { input, ask, shows, text } = page()
    const turn = new AbortController()
    const shown = ask({}, turn.signal)
    const unseen = ask({ subject: commandSubject(['unseen']) }, turn.signal)
    const next = ask({ subject: commandSubject(['next']) })
    await shows('answer> ')
    turn.abort(new Error('over'))
    await assert.rejects(shown, /over/)
    await assert.rejects(unseen, /over/)
    await shows('answer> ', 2)
    assert.match(text(), /nobody waits for an answer any more/)
    assert.doesNotMatch(text(), /unseen/)
    input.write('y\n')
    assert.deepEqual(await next, { kind: 'approved' })
  })

  test('that cannot be written is an error', async () => {
    const { output, ask, shows } = page()
    const asked = ask()
    await shows('answer> ')
    output.destroy(new Error('the screen is gone'))
    await assert.rejects(asked, /the screen is gone/)
  })
})

// Only Bun runs the sources, and has terminals.
describe('a question on a terminal', { skip: !('Bun' in globalThis) }, () => {
  const program = fileURLToPath(new URL('./fixtures/ask-on-terminal.ts', import.meta.url))

  interface Screen {
    type(keys: string): void
    shows(text: string, times?: number): Promise<void>
  }

  /** A program that asks twice on a real terminal of its own, and prints what it was told. Returns what was shown. */
  async function onTerminal(use: (screen: Screen) => Promise<void>): Promise<string> {
    let text = ''
    const decoder = new TextDecoder()
    const data = (_: unknown, bytes: Uint8Array) => {
      text += decoder.decode(bytes, { stream: true })
    }
    const child = Bun.spawn([process.execPath, program], { terminal: { cols: 60, rows: 40, data } })
    try {
      const shows = (wanted: string, times = 1) => appears(() => text, wanted, times)
      await use({ type: (keys) => child.terminal!.write(keys), shows })
      assert.equal(await child.exited, 0)
      return text
    } finally {
      child.kill('SIGKILL')
      await child.exited
      child.terminal!.close()
    }
  }

  test('shows a hostile command for what it is, and takes an answer', async () => {
    const text = await onTerminal(async ({ type, shows }) => {
      await shows('answer> ')
      type('y\r')
      await shows('first: {"kind":"approved"}')
      await shows('answer> ', 2)
      type('n\r')
      await shows('why, for the model')
      type('not thi\u007f\u007fat\r')
      await shows('second: {"kind":"denied","rejection":"not tat"}')
    })
    const shown = text.slice(0, text.indexOf('[y]'))
    assert.match(shown, /\| echo \$'\\x1b\[2J\\rhidden'/)
    assert.ok(!shown.includes('\u001b[2J') && !shown.includes('\rhidden'))
  })

  test('is ended by Ctrl-C and by Ctrl-D, and so is nothing else', async () => {
    await onTerminal(async ({ type, shows }) => {
      await shows('answer> ')
      type('\u0003')
      await shows('first: {"kind":"abort"}')
      await shows('answer> ', 2)
      type('\u0004')
      await shows('second: {"kind":"abort"}')
    })
  })

  test('is for somebody else to decide where there is none', () => {
    const { stdout } = spawnSync(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'] })
    assert.equal(stdout.toString(), 'first: undefined\nsecond: undefined\n')
  })
})
