import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, test } from 'node:test'
import { Person } from './cli-waldo.ts'

const RULES = `prefix_rule(pattern = ["git", ["status", "log"]], match = ["git status"], not_match = ["git push"])
prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "Push by hand")
prefix_rule(pattern = ["npm", "publish"], decision = "prompt")
prefix_rule(pattern = ["make"], sandbox = "bypass", env = ["CC"], redirects = ["> build/*"])
host_executable(name = "make", paths = ["/usr/bin/make"])
network_rule(host = "registry.example", protocol = "https", decision = "deny", justification = "Not that one")
`

const PROJECT = '.waldo/rules/default.rules'
const USER = 'config/rules/mine.rules'

function write(person: Person, file: string, text: string): string {
  const path = person.path(file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

function withRules(): Person {
  const person = new Person()
  write(person, PROJECT, RULES)
  return person
}

describe('waldo policy check', () => {
  const cases: readonly [what: string, args: string[], code: number, says: RegExp][] = [
    ['a rule allows', ['--', 'git', 'status'], 0, /^allow: it runs inside the sandbox/],
    ['a rule allows outside of the sandbox', ['--', 'make'], 0, /^allow: it runs OUTSIDE of the sandbox/],
    [
      'a rule allows outside but for a redirect',
      ['-c', 'make > build/log'],
      0,
      /^allow: it runs inside the sandbox[\s\S]*outside, `> build\/log` could follow a link to any file/,
    ],
    [
      'a rule allows by name, but not there',
      ['--approval', 'untrusted', '--', '/opt/x/git', 'status'],
      10,
      /\/opt\/x\/git is in no directory of the system/,
    ],
    [
      'is piped into a shell',
      ['-c', "echo 'git push' | sh"],
      20,
      /a pipe into something that runs what it reads at 1:19[\s\S]*within it: git push/,
    ],
    ['nobody speaks of', ['--', 'cargo', 'build'], 0, /^allow: it runs inside the sandbox/],
    ['there is no sandbox for', ['--sandbox', 'full-access', 'ls'], 0, /^allow: it runs without a sandbox/],
    ['wants to leave the sandbox', ['--escalated', 'ls'], 10, /after a yes it runs OUTSIDE/],
    ['a rule has asked about', ['--', 'npm', 'publish'], 10, /^ask: somebody is asked first; .* inside/],
    ['nobody trusts', ['--approval', 'untrusted', 'ls'], 10, /^ask/],
    ['a rule forbids', ['--', 'git', 'push'], 20, /^forbidden: it does not run\n.*git push\n.*Push by hand/],
    ['nobody can be asked about', ['--approval', 'never', 'npm', 'publish'], 20, /AskForApproval is set to Never/],
    [
      'asks though nobody may be asked',
      ['--approval', 'never', '--escalated', 'make'],
      20,
      /cannot ask for escalated permissions if the approval policy is never/,
    ],
    [
      'may not be asked about here',
      ['--approval', 'granular:sandbox', 'npm', 'publish'],
      20,
      /Granular.rules is false/,
    ],
    [
      'forbids something within',
      ['-c', 'echo "$(git push)"'],
      20,
      /a command substitution at 1:[\s\S]*within it: git push/,
    ],
    [
      'a script hides nothing of',
      ['-c', 'git status && git push'],
      20,
      /allow {4}git status\n[\s\S]*forbid {3}git push/,
    ],
  ]
  for (const [what, args, code, says] of cases) {
    test(`exits with ${code} for what ${what}: ${args.join(' ')}`, async () => {
      using person = withRules()
      const result = await person.waldo(['policy', 'check', ...args])
      assert.equal(result.stderr, '')
      assert.match(result.stdout, says)
      assert.equal(result.code, code)
    })
  }

  test('names the rule with its line, and what would have changed the decision', async () => {
    using person = withRules()
    const { stdout } = await person.waldo(['policy', 'check', '--', 'git', 'push'])
    assert.ok(stdout.includes(`rule ${person.path(PROJECT)}:2: forbidden`), stdout)
    assert.match(stdout, /→ no other rule can relax it: change it where it is written/)
  })

  test('says why a saved rule did not count, and shows the exact rule that would be offered', async () => {
    using person = withRules()
    const missed = await person.waldo(['policy', 'check', '--approval', 'untrusted', '-c', 'LD_PRELOAD=x make > log'])
    assert.equal(missed.code, 10)
    assert.match(missed.stdout, /default\.rules:4 does not allow it: it sets LD_PRELOAD/)
    const offered = await person.waldo(['policy', 'check', '--approval', 'untrusted', '--', 'cargo', 'build'])
    assert.match(
      offered.stdout,
      /offered with the question\n {2}\| prefix_rule\(pattern=\["cargo", "build"\], decision="allow"\)\n/,
    )
  })

  test('the rule that is offered, once it is written down, ends the question', async () => {
    using person = withRules()
    const args = ['policy', 'check', '--json', '--escalated', '--', 'cargo', "it's", 'a "word"\n', '\u001b[31m']
    const asked = JSON.parse((await person.waldo(args)).stdout)
    assert.equal(asked.decision, 'ask')
    write(person, USER, `${asked.proposedRule}\n`)
    const { code, stdout } = await person.waldo(args)
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout).segments[0].rules, [
      { origin: `${person.path(USER)}:1`, decision: 'allow', bypassesSandbox: true },
    ])
  })

  test('gives programs everything in one object', async () => {
    using person = withRules()
    const { stdout } = await person.waldo(['policy', 'check', '--json', '-c', 'CC=gcc make > build/log; npm publish'])
    const { argv, decision, sandbox, opaque, segments, why } = JSON.parse(stdout)
    assert.deepEqual(argv, ['/bin/bash', '-lc', 'CC=gcc make > build/log; npm publish'])
    assert.deepEqual([decision, sandbox, opaque], ['ask', 'inside', null])
    assert.deepEqual(segments[0], {
      role: 'command',
      words: ['make'],
      env: ['CC=gcc'],
      redirects: ['> build/log'],
      decision: 'allow',
      // What is redirected to a file stays inside.
      rules: [{ origin: `${person.path(PROJECT)}:4`, decision: 'allow', bypassesSandbox: false }],
      misses: [],
      otherwise: null,
    })
    assert.equal(segments[1].decision, 'ask')
    assert.equal(why[0].origin, `${person.path(PROJECT)}:3`)
  })

  test('what a command holds cannot act on the terminal', async () => {
    using person = withRules()
    const { stdout } = await person.waldo(['policy', 'check', '-c', "git push '\u001b]0;title\u0007' '\u202e'"])
    for (const character of ['\u001b', '\u0007', '\u202e']) assert.ok(!stdout.includes(character), stdout)
    assert.match(stdout, /<U\+001B>/)
  })

  test('every layer counts, and the strictest decides', async () => {
    using person = withRules()
    write(
      person,
      USER,
      'prefix_rule(pattern=["git", "push"])\nprefix_rule(pattern=["git", "status"], decision="prompt")\n',
    )
    assert.equal((await person.waldo(['policy', 'check', '--', 'git', 'push'])).code, 20)
    assert.equal((await person.waldo(['policy', 'check', '--', 'git', 'status'])).code, 10)
    // Without the project, nobody forbids it.
    assert.equal((await person.waldo(['policy', 'check', '--no-project', '--', 'git', 'push'])).code, 0)
    const given = write(person, 'other.rules', 'prefix_rule(pattern=["ls"], decision="forbidden")\n')
    assert.equal((await person.waldo(['policy', 'check', '--rules', given, '--', 'git', 'push'])).code, 0)
    assert.equal((await person.waldo(['policy', 'check', '--rules', given, '--', 'ls'])).code, 20)
  })

  test('--cwd is where the project is', async () => {
    using person = new Person()
    write(person, `there/${PROJECT}`, RULES)
    assert.equal((await person.waldo(['policy', 'check', '--', 'git', 'push'])).code, 0)
    assert.equal((await person.waldo(['policy', 'check', '--cwd', 'there', '--', 'git', 'push'])).code, 20)
  })

  test('the starter set lets commands run that only read, inside the sandbox', async () => {
    using person = new Person()
    const check = ['policy', 'check', '--approval', 'untrusted', '--starter']
    assert.match((await person.waldo([...check, '-c', 'cat a | grep b'])).stdout, /^allow: it runs inside the sandbox/)
    assert.equal((await person.waldo([...check, '-c', 'cat a > b'])).code, 10)
  })

  test('rules that cannot be used are no permission: it exits with 1 and says where', async () => {
    using person = withRules()
    const path = write(person, USER, 'prefix_rule(pattern=["ls"], decision="perhaps")\n')
    const { code, stdout, stderr } = await person.waldo(['policy', 'check', '--', 'ls'])
    assert.deepEqual([code, stdout], [1, ''])
    assert.ok(stderr.startsWith(`${path}:1:`), stderr)
    assert.match(stderr, /the rules cannot be used/)
  })

  test('a wrong option exits with 2, and --help of the command is the command’s', async () => {
    using person = withRules()
    for (const args of [
      ['check'],
      ['check', '--'],
      ['check', '-c', 'ls', 'more'],
      ['check', '--approval', 'sometimes', 'ls'],
      ['check', '--sandbox', 'soft', 'ls'],
      ['check', '--rules', 'x', '--no-project', 'ls'],
      ['check', '--frob', 'ls'],
      ['test', 'x'],
      ['show', 'x'],
      ['simulate'],
      ['frob'],
      [],
    ]) {
      const { code, stdout, stderr } = await person.waldo(['policy', ...args])
      assert.deepEqual([code, stdout], [2, ''], args.join(' '))
      assert.match(stderr, /^(Error: .+\n|Ask the rules)/, args.join(' '))
    }
    assert.match((await person.waldo(['policy', 'check', '--json', '--help'])).stdout, /^Ask the rules/)
    assert.equal((await person.waldo(['policy', 'check', 'git', 'push', '--help'])).code, 20)
  })
})

describe('waldo policy test', () => {
  test('counts rules and examples of every file', async () => {
    using person = withRules()
    const { code, stdout } = await person.waldo(['policy', 'test', '--starter'])
    assert.equal(code, 0)
    assert.ok(stdout.startsWith(`${person.path(PROJECT)}: 6 rules, 2 examples\nwaldo:starter.rules: 3 rules, `), stdout)
    assert.match(stdout, /\nAll is well\.\n$/)
  })

  test('counts examples wherever they are written, and nothing that only looks like one', async () => {
    using person = new Person()
    const rules = [
      'prefix_rule(["a"], "allow", ["a b", ["a", "c"]], ["b"])',
      'prefix_rule(not_match=["x match = [1, 2]"], pattern=["match"], match=["match"], justification="match=[]")',
      '# prefix_rule(["b"], match=["b"])',
      'network_rule("match", "http", "deny", "not_match")',
      'prefix_rule(["c"], match=[])',
    ]
    const path = write(person, 'some.rules', rules.join('\n'))
    const { stdout } = await person.waldo(['policy', 'test', '--rules', 'some.rules'])
    assert.equal(stdout, `${path}: 4 rules, 5 examples\nAll is well.\n`)
  })

  test('tells every problem of every file with its place, and exits with 1', async () => {
    using person = withRules()
    const path = write(
      person,
      USER,
      'prefix_rule(pattern=["a"],\n  match=["a b", "c"])\nfrob()\nprefix_rule(pattern=["b"], decision="perhaps")\n',
    )
    const { code, stdout } = await person.waldo(['policy', 'test'])
    assert.equal(code, 1)
    const problems = stdout.split('\n').filter((line) => line.startsWith(`${path}:`) && /:\d+:\d+: /.test(line))
    assert.deepEqual(
      problems.map((line) => line.slice(path.length).replace(/: .*/, '')),
      [':2:17', ':3:1', ':4:37'],
    )
    const { ok, files, problems: told } = JSON.parse((await person.waldo(['policy', 'test', '--json'])).stdout)
    assert.deepEqual([ok, told.length], [false, 3])
    assert.deepEqual(files, [
      { file: path, rules: 1, examples: 2 },
      { file: person.path(PROJECT), rules: 6, examples: 2 },
    ])
  })

  test('a name that leads nowhere is a problem, and no rules at all are none', async () => {
    using person = new Person()
    const nothing = await person.waldo(['policy', 'test'])
    assert.equal(nothing.code, 0)
    assert.ok(nothing.stdout.includes(`${person.path('config/rules')} (missing)`), nothing.stdout)
    const nowhere = await person.waldo(['policy', 'test', '--rules', 'nowhere'])
    assert.equal(nowhere.code, 1)
    assert.match(nowhere.stdout, /nowhere:1:1: cannot be read/)
    write(person, 'binary.rules', 'x')
    writeFileSync(person.path('binary.rules'), Uint8Array.of(0xff, 0xfe))
    assert.equal((await person.waldo(['policy', 'test', '--rules', 'binary.rules'])).code, 1)
    writeFileSync(person.path('large.rules'), '#'.repeat(1024 * 1024 + 1))
    assert.match((await person.waldo(['policy', 'test', '--rules', 'large.rules'])).stdout, /larger than 1048576 bytes/)
  })
})

describe('waldo policy show', () => {
  test('shows each rule with what it says and where, and where rules could be', async () => {
    using person = withRules()
    mkdirSync(person.path('config/rules'), { recursive: true })
    const { code, stdout } = await person.waldo(['policy', 'show'])
    const at = (line: number) => `${person.path(PROJECT)}:${line} (project)`
    assert.equal(code, 0)
    for (const text of [
      `user     ${person.path('config/rules')} (empty)`,
      `allow    git {status|log}\n           inside the sandbox\n           ${at(1)}`,
      `forbid   git push\n           because: Push by hand\n           ${at(2)}`,
      `allow    make\n           OUTSIDE of the sandbox; it may set CC, redirect > build/*\n           ${at(4)}`,
      `program  make: /usr/bin/make\n           ${at(5)}`,
      `forbid   registry.example (https)\n           because: Not that one\n           ${at(6)}`,
    ]) {
      assert.ok(stdout.includes(text), `${text}\nis not in\n${stdout}`)
    }
    const left = await person.waldo(['policy', 'show', '--no-project'])
    assert.ok(left.stdout.includes(`project  ${person.path('.waldo/rules')} (left out)`), left.stdout)
    assert.match(left.stdout, /No rules for commands/)
  })

  test('gives programs the same as one object', async () => {
    using person = withRules()
    const shown = JSON.parse((await person.waldo(['policy', 'show', '--json'])).stdout)
    assert.deepEqual(
      shown.places.map(({ layer, state }: { layer: string; state: string }) => [layer, state]).slice(1),
      [
        ['user', 'missing'],
        ['project', 'read'],
      ],
    )
    assert.deepEqual(shown.prefixRules[1], {
      kind: 'prefix',
      pattern: [['git'], ['push']],
      decision: 'forbidden',
      justification: 'Push by hand',
      sandbox: 'keep',
      env: [],
      redirects: [],
      origin: { layer: 'project', file: person.path(PROJECT), line: 2 },
    })
    assert.deepEqual([shown.hostExecutables.length, shown.networkRules.length], [1, 1])
  })
})

describe('waldo policy simulate', () => {
  const LOG = [
    '{"cmd": "git push origin main"}',
    '{"cmd": "git push origin main", "exit_code": 1}',
    'Killed',
    '{"argv": ["make"]}',
    '{"argv": ["cargo", "build"], "sandbox_permissions": "require_escalated"}',
    '',
    '{"cmd": "echo \\u001b[31mred; npm publish"}',
  ].join('\n')

  test('shows what other rules would change, how often, and which lines are no commands', async () => {
    using person = withRules()
    write(person, 'log.jsonl', LOG)
    write(
      person,
      'new/a.rules',
      'prefix_rule(pattern=["cargo", "build"], sandbox="bypass")\nprefix_rule(pattern=["make"], decision="forbidden")\n',
    )
    const { code, stdout } = await person.waldo(['policy', 'simulate', '--log', 'log.jsonl', '--against', 'new'])
    assert.equal(code, 0)
    assert.match(
      stdout,
      /^Would be forbidden: 1 command\n {2}\| make\n.*line 4; allowed outside of the sandbox so far/m,
    )
    assert.match(
      stdout,
      /^Would run without a question: 4 commands\n {2}\| git push origin main\n.*2 times, first in line 1/m,
    )
    assert.match(stdout, /^Would run OUTSIDE of the sandbox: 1 command\n {2}\| cargo build\n/m)
    assert.match(stdout, /^No commands, left out: 1 line\n {2}line 3 /m)
    assert.match(stdout, /\n5 commands, 5 of them treated differently\n$/)
    assert.ok(!stdout.includes('\u001b'), stdout)
  })

  test('without other rules, shows what the rules do at all', async () => {
    using person = withRules()
    write(person, 'log.jsonl', LOG)
    const { stdout } = await person.waldo(['policy', 'simulate', '--log', 'log.jsonl'])
    assert.match(stdout, /^Would be forbidden: 2 commands\n {2}\| git push origin main\n/)
    assert.match(stdout, /^Would be asked about: 1 command\n/m)
  })

  test('gives programs an object a line, the counts last', async () => {
    using person = withRules()
    write(person, 'log.jsonl', LOG)
    const { stdout } = await person.waldo(['policy', 'simulate', '--log', 'log.jsonl', '--json'])
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      events.map(({ kind, line }) => [kind, line]),
      [
        ['difference', 1],
        ['difference', 2],
        ['unreadable', 3],
        ['difference', 4],
        ['difference', 7],
        ['end', undefined],
      ],
    )
    assert.deepEqual(events.at(-1).commands, 5)
  })

  test('shows a part of many different commands, and counts the others', async () => {
    using person = withRules()
    const lines = Array.from({ length: 300 }, (_, index) => JSON.stringify({ argv: ['git', 'push', `${index}`] }))
    write(person, 'log.jsonl', lines.join('\n'))
    const { stdout } = await person.waldo(['policy', 'simulate', '--log', 'log.jsonl'])
    assert.match(stdout, /^Would be forbidden: 300 commands\n/)
    assert.match(stdout, /… and 100 more, all of which --json shows/)
  })

  test('a log that is not there, or holds no command, exits with 1', async () => {
    using person = withRules()
    const missing = await person.waldo(['policy', 'simulate', '--log', 'nowhere'])
    assert.deepEqual([missing.code, missing.stdout], [1, ''])
    assert.match(missing.stderr, /cannot read nowhere/)
    const none = await person.waldo(['policy', 'simulate', '--log', PROJECT])
    assert.equal(none.code, 1)
    assert.match(none.stderr, /no command in/)
  })

  test('stops when nobody reads on', async () => {
    using person = withRules()
    write(person, 'log.jsonl', '{"cmd": "git push"}\n'.repeat(2000))
    const { stdout } = await person.shell(
      'waldo policy simulate --log log.jsonl --json | head -n 1 | cut -c 1-20; echo ":$PIPESTATUS"',
    )
    assert.equal(stdout, '{"kind":"difference"\n:141\n')
  })
})
