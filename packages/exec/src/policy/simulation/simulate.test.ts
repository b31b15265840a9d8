import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromPosixPath } from '@waldo/protocol'
import { policyOf, RESTRICTED } from '../fixtures/sample-policy.ts'
import { type SimulationEvent, simulate } from './simulate.ts'

const CALL = {
  environmentId: 'here',
  cwd: fromPosixPath('/work'),
  approvalPolicy: 'untrusted',
  permissions: RESTRICTED,
  hasManagedNetwork: false,
  shell: '/bin/bash',
} as const

async function run(chunks: Iterable<string>, before: string, after: string): Promise<SimulationEvent[]> {
  const events: SimulationEvent[] = []
  const policies = { before: policyOf(before), after: policyOf(after) }
  for await (const event of simulate(chunks, { ...policies, call: CALL })) events.push(event)
  return events
}

const shown = (events: readonly SimulationEvent[]) =>
  events.map((event) => {
    if (event.kind === 'difference') return `${event.line}: ${event.changes.join(', ')}: ${event.argv.at(-1)}`
    return event.kind === 'unreadable'
      ? `${event.line}: ${event.problem}`
      : `${event.commands} commands, ${event.unreadable} unreadable`
  })

describe('a simulation', () => {
  const records = [
    { cmd: 'make' },
    { argv: ['ls'] },
    { cmd: 'git push', cwd: '/work', sandbox_permissions: 'use_default' },
    { cmd: 'npm ci' },
    { cmd: 'kept', more: 1 },
    { cmd: 'unknown' },
    { cmd: 'free', sandbox_permissions: 'require_escalated' },
  ]
  const text = records.map((record) => JSON.stringify(record)).join('\n')
  const before = 'prefix_rule(["make"])\nprefix_rule(["git"])\nprefix_rule(["kept"], sandbox="bypass")'
  const after =
    'prefix_rule(["make"], "forbidden")\nprefix_rule(["ls"])\nprefix_rule(["git"], "prompt")\nprefix_rule(["npm"], sandbox="bypass")\nprefix_rule(["kept"])\nprefix_rule(["free"], sandbox="bypass")'
  const expected = [
    '1: newly-denied: make',
    '2: newly-allowed: ls',
    '3: newly-asked: git push',
    '4: newly-allowed, newly-unsandboxed: npm ci',
    '5: newly-sandboxed: kept',
    '7: newly-allowed, newly-unsandboxed: free',
    '7 commands, 0 unreadable',
  ]

  test('tells which recorded commands two policies treat differently', async () => {
    const events = await run([text], before, after)
    assert.deepEqual(shown(events), expected)
    const end = events.at(-1)
    assert.deepEqual(end?.kind === 'end' && end.changes, {
      'newly-denied': 1,
      'newly-asked': 1,
      'newly-allowed': 3,
      'newly-unsandboxed': 2,
      'newly-sandboxed': 1,
    })
    const [first] = events
    assert.ok(first?.kind === 'difference' && first.after.why[0]?.origin === 'user.rules:1')
  })

  test('takes the records in pieces of any size', async () => {
    assert.deepEqual(shown(await run(text, before, after)), expected)
    assert.deepEqual(shown(await run([`${text}\n\n`], before, after)), expected)
  })

  test('finds no difference between a policy and itself', async () => {
    assert.deepEqual(shown(await run([text], after, after)), ['7 commands, 0 unreadable'])
  })

  test('tells which lines are no records, and goes on', async () => {
    const odd = [
      '{',
      '[]',
      'null',
      '{"argv":[]}',
      '{"argv":["a"],"cmd":"a"}',
      '{"cmd":"a","sandbox_permissions":"x"}',
      '{"cmd":"a"}',
    ]
    const lines = shown(await run([odd.join('\r\n')], '', 'prefix_rule(["a"])'))
    const needs = 'it needs either `argv`, a list of strings, or `cmd`, a string'
    assert.deepEqual(lines.slice(1), [
      `2: ${needs}`,
      '3: it is not an object',
      `4: ${needs}`,
      `5: ${needs}`,
      '6: `sandbox_permissions` is not known',
      '7: newly-allowed: a',
      '1 commands, 6 unreadable',
    ])
  })

  test('takes a command wherever it was run: no rule goes by the directory', async () => {
    const cwds = ['/work', 'sub/directory', 'C:\\work', 'file:///work', '', null, 7]
    const lines = cwds.map((cwd) => JSON.stringify({ cmd: 'a', cwd })).join('\n')
    const events = await run([lines], '', 'prefix_rule(["a"])')
    assert.deepEqual(shown(events), [
      ...cwds.map((_, index) => `${index + 1}: newly-allowed: a`),
      `${cwds.length} commands, 0 unreadable`,
    ])
  })

  test('holds no line that is too long', async () => {
    function* chunks() {
      yield '{"cmd":"'
      for (let i = 0; i < 300; i++) yield 'a'.repeat(10_000)
      yield '"}\n{"cmd":"a"}'
    }
    assert.deepEqual(shown(await run(chunks(), '', 'prefix_rule(["a"])')), [
      '1: it is longer than 1048576 characters',
      '2: newly-allowed: a',
      '1 commands, 1 unreadable',
    ])
  })

  test('reads no further than it is asked to', async () => {
    let read = 0
    function* endless() {
      for (;;) {
        read++
        yield '{"cmd":"a"}\n'
      }
    }
    for await (const event of simulate(endless(), {
      before: policyOf(''),
      after: policyOf('prefix_rule(["a"])'),
      call: CALL,
    })) {
      assert.equal(event.kind, 'difference')
      break
    }
    assert.equal(read, 1)
  })
})
