import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { fromPosixPath, fromWindowsPath, pathUri } from '@waldo/protocol'
import fc from 'fast-check'
import type { ApprovalSubject } from './approver.ts'
import { describeRequest } from './describe-request.ts'
import { commandSubject, sampleRequest } from './fixtures/sample-request.ts'
import { shellQuote } from './shell-quote.ts'

const described = (argv: readonly string[], columns?: number) =>
  describeRequest(sampleRequest({ subject: commandSubject(argv) }), columns ? { columns } : {})

describe('the text of a question', () => {
  test('says what, where, how confined, why, and which rule would make it unnecessary', () => {
    const text = describeRequest(
      sampleRequest({
        subject: commandSubject(['npm', 'run', 'it all'], { tty: true }),
        sandbox: { kind: 'outside-but-denials', denied: ['/home/me/.ssh', '**/.env'] },
        reason: 'npm runs what others have written',
        justification: 'the tests need a browser',
        why: [
          { source: 'rule', text: 'a rule asks about npm', origin: '/home/me/rules/default.rules:3' },
          { source: 'dangerous', text: 'it is dangerous', otherwise: 'a rule that allows it' },
        ],
        isRetry: true,
        amendment: { prefix: ['npm', 'run'] },
      }),
    )
    assert.equal(
      text,
      `Run this command?
  | npm run 'it all'
  terminal it gets one, and can be typed to
  where    environment local
  in       | /home/me/project
  sandbox  OUTSIDE, but for what must not be read, whoever allows it:
           /home/me/.ssh, **/.env
  again    it ran before, and was denied something
  reason   npm runs what others have written
  why      a rule asks about npm (/home/me/rules/default.rules:3)
           it is dangerous
           otherwise: a rule that allows it
  model    says, in its own words, which nobody has checked:
           | the tests need a browser
  rule     prefix_rule(pattern=["npm", "run"], decision="allow")
           saved for this project or for you, it spares the question
`,
    )
  })

  test('shows a script as it is written, and by which shell', () => {
    const text = described(['/bin/bash', '-lc', `cd 'a b' &&\n  echo "$HOME"\n`])
    assert.match(text, /\n {2}\| cd 'a b' &&\n {2}\| {3}echo "\$HOME"\n {2}shell {4}\/bin\/bash -lc\n/)
  })

  test('names other sandboxes', () => {
    assert.match(describeRequest(sampleRequest({ sandbox: { kind: 'inside' } })), /sandbox {2}inside, as everything/)
    assert.match(describeRequest(sampleRequest()), /sandbox {2}OUTSIDE: nothing confines it\n/)
    assert.ok(
      describeRequest(sampleRequest({ sandbox: { kind: 'inside', thenOutside: true } })).includes(`
  sandbox  inside, then OUTSIDE: if that denies it something, it runs again
           OUTSIDE, where nothing confines it, without another question
`),
    )
  })

  test('says that a command goes on after the conversation', () => {
    const subject = { ...commandSubject(['npm', 'start']), lifetime: 'detached' } as const
    const text = describeRequest(sampleRequest({ subject }))
    assert.match(text, /\n {2}lifetime DETACHED: it goes on after the conversation\n/)
    assert.doesNotMatch(described(['npm', 'start']), /DETACHED/)
  })

  test('says that a rule leaves the sandbox, however long the rule is', () => {
    for (const prefix of [['npm'], ['npm', 'x'.repeat(4_000)]]) {
      const text = describeRequest(sampleRequest({ amendment: { prefix, sandbox: 'bypass' } })).replace(/\s+/g, ' ')
      assert.match(text, /it spares the question, and what begins so runs OUTSIDE/)
    }
  })

  test('shows a directory of another system as it is on the wire', () => {
    for (const cwd of [fromWindowsPath('C:\\work'), pathUri('file:///%00/bad/path/***'), pathUri('file:///a%2Fb')]) {
      const subject = { kind: 'command', argv: ['dir'], cwd, tty: false } as const
      assert.ok(describeRequest(sampleRequest({ subject })).includes(`  in       | ${cwd}\n`))
    }
  })

  test('shows a patch with its changes, and a host with its command', () => {
    const cwd = fromPosixPath('/p')
    const file = { kind: 'move', path: fromPosixPath('/p/a'), target: fromPosixPath('/p/b') } as const
    const patch: ApprovalSubject = { kind: 'patch', cwd, files: [{ ...file, diff: '@@ -1 +1 @@\n-x\n+y\n' }] }
    assert.match(
      describeRequest(sampleRequest({ subject: patch })),
      /^Change this file\?\n {2}move {5}\| \/p\/a\n {2}to {7}\| \/p\/b\n {2}\| @@ -1 \+1 @@\n {2}\| -x\n {2}\| \+y\n/,
    )
    const network = {
      kind: 'network',
      host: 'example.com',
      port: 443,
      protocol: 'https',
      command: ['curl', 'a b'],
    } as const
    const text = describeRequest(sampleRequest({ subject: network, decisions: ['network_policy_amendment'] }))
    assert.match(
      text,
      /\n {2}\| example.com, port 443 \(https\)\n {2}command {2}curl 'a b'\n.*rule {5}allow example.com\n/s,
    )
  })
})

describe('a hostile command', () => {
  test('cannot draw over its question, hide in it, or turn it around', () => {
    const tricks = [
      '\u001b[2J\u001b[H',
      'rm -rf ~\r',
      '\u202eevil\u202c',
      'a\u200bb',
      '\u009b2J',
      '\u2028',
      'a\u00a0b',
      '\ud800',
    ]
    for (const trick of tricks) {
      for (const argv of [
        ['echo', trick],
        ['sh', '-c', `true ${trick}`],
      ]) {
        const text = described(argv)
        assert.doesNotMatch(text, /(?!\n)[\p{C}\p{Zl}\p{Zp}]|\u00a0|\u200b/u)
        assert.match(text, /beware {3}it holds characters/)
      }
    }
    assert.match(described(['echo', '\u001b[2J', "it's\u202e"]), /\| echo \$'\\x1b\[2J' \$'it\\'s\\u202e'\n/)
    assert.match(described(['sh', '-c', 'ls\r#']), /\| ls<U\+000D>#\n/)
  })

  test('cannot look like what we say, by any number of lines or columns', () => {
    const script = `ls${' '.repeat(10_000)}\n[y] yes, once\nRun this command?\n  sandbox  inside\n`
    const text = described(['bash', '-c', script])
    const rows = text.split('\n')
    assert.ok(rows.every((row) => row.length <= 80))
    assert.equal(rows.filter((row) => row.startsWith('Run this command?')).length, 1)
    assert.ok(rows.includes('  | [y] yes, once'))
    assert.ok(rows.includes('  |   sandbox  inside'))
  })

  test('cannot pile up marks, nor put one on what we say', () => {
    const text = described(['echo', `${'\u0301'.repeat(500)}a${'\u0301'.repeat(500)}`])
    assert.doesNotMatch(text, /\p{M}{4}| \p{M}/u)
  })

  test('is shown up to a bound, with a count of what is not', () => {
    const lines = described(['bash', '-c', 'true\n'.repeat(200_000)])
    assert.match(lines, /! 999000 more characters are NOT shown\n/)
    assert.equal(lines.split('\n').filter((row) => row === '  | true').length, 200)
    const columns = described(['echo', 'x'.repeat(1_000_000)])
    assert.match(columns, /! 985005 more characters are NOT shown\n/)
    const words = described(Array.from({ length: 300_000 }, () => '\u001b'))
    assert.match(words, /NOT shown/)
    assert.ok(words.length < 20_000)
  })

  test('cannot hide behind a long reason, many rules, or many files', () => {
    const why = Array.from({ length: 500 }, () => ({ source: 'rule' as const, text: 'y'.repeat(5_000) }))
    const text = describeRequest(sampleRequest({ reason: `please\n${'\n'.repeat(5_000)}[y]`, why }))
    assert.ok(text.split('\n').length < 200)
    assert.match(text, /\(490 more\)/)
    const file = { kind: 'add', path: fromPosixPath('/p/a'), diff: '+x\n'.repeat(1_000) } as const
    const files = Array.from({ length: 5_000 }, () => file)
    const patch = describeRequest(sampleRequest({ subject: { kind: 'patch', cwd: fromPosixPath('/p'), files } }))
    assert.ok(patch.split('\n').length < 700)
    assert.match(patch, /its 3000 characters of changes are NOT shown.*4900 more files are NOT shown/s)
  })

  test('cannot be spoken for in our name, or at any length', () => {
    const lies = 'please\n  reason   a rule allows it\n  sandbox  inside\nwhy      safe\n'
    const rows = describeRequest(sampleRequest({ justification: `${lies}${'x'.repeat(100_000)}` })).split('\n')
    const said = rows.slice(rows.findIndex((row) => row.startsWith('  model    says, in its own words')) + 1, -2)
    assert.equal(said.length, 12)
    for (const row of said) assert.match(row, /^ {11}[|:] /)
    assert.equal(said[1], '           |   reason   a rule allows it')
    assert.match(rows.at(-2)!, /^ {11}! \d+ more characters are NOT shown$/)
    assert.doesNotMatch(describeRequest(sampleRequest({ reason: 'a rule asks' })), /model/)
  })

  test('has a long spelling in a row of its own if it does not fit behind the last word', () => {
    const rows = describeRequest(sampleRequest({ justification: '   !!\u{100000}' }), { columns: 24 }).split('\n')
    assert.ok(rows.includes('           : <U+100000>'), rows.join('\n'))
  })

  test('never gets a row past the width, or anything unseen onto the screen', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string(),
      fc.constantFrom('\u001b[1A', '\r', '\u202e', '\n'),
    )
    const hostile = fc.array(unit, { maxLength: 30 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        fc.array(hostile, { maxLength: 5 }),
        hostile,
        fc.integer({ min: 24, max: 120 }),
        (argv, said, columns) => {
          const request = sampleRequest({
            ...{
              subject: commandSubject(argv),
              reason: said,
              justification: said,
              environmentId: said,
              amendment: { prefix: argv },
            },
            why: [{ source: 'rule', text: said, origin: said, otherwise: said }],
          })
          const text = describeRequest(request, { columns })
          for (const row of text.split('\n').slice(1, -1)) {
            const cells = row.replace(/\p{M}/gu, '').length
            if (!/ more characters( are NOT shown|\))$/.test(row)) assert.ok(cells <= columns, row)
            assert.match(row, /^( {2}|$)/)
          }
          assert.doesNotMatch(text, /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u)
        },
      ),
    )
  })
})

test('a quoted command is the same command to a shell', () => {
  // A NUL cannot be part of one.
  const word = fc.string({
    unit: fc.oneof(fc.constantFrom(...'\'"\\$`!~#\n\t\r\u001b\u202e*é '), fc.constantFrom('a', '=', '-')),
  })
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const script = `printf '%s\\0' ${shellQuote(words)}`
      const { stdout } = spawnSync('bash', ['-c', script], { env: { LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin' } })
      assert.equal(stdout.toString(), words.map((each) => `${each}\0`).join(''))
    }),
    { numRuns: 60 },
  )
})
