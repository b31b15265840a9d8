import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call, layer, policyOf } from './fixtures/sample-policy.ts'

const kindOf = async (rules: string, command: Parameters<typeof call>[0], rest: Parameters<typeof call>[1] = {}) => {
  const requirement = await policyOf(rules).judge(call(command, { approvalPolicy: 'untrusted', ...rest }))
  return requirement.kind === 'skip' && requirement.bypassSandbox ? 'outside' : requirement.kind
}

describe('an allow rule', () => {
  test('is not matched by a command that sets a variable it does not name', async () => {
    assert.equal(await kindOf('prefix_rule(["make"])', 'FOO=1 make'), 'ask')
    assert.equal(await kindOf('prefix_rule(["make"], env=["FOO"])', 'FOO=1 make'), 'skip')
    assert.equal(await kindOf('prefix_rule(["make"], env=["FOO"])', 'FOO=1 BAR=2 make'), 'ask')
    assert.equal(await kindOf('prefix_rule(["make"], env=["*"])', 'LD_PRELOAD=x make'), 'ask')
    assert.equal(await kindOf('prefix_rule(["make"], env=["LD_PRELOAD"])', 'LD_PRELOAD=x make'), 'skip')
  })

  test('is not matched by a command with a redirect it does not name', async () => {
    assert.equal(await kindOf('prefix_rule(["make"])', 'make > log'), 'ask')
    assert.equal(await kindOf('prefix_rule(["make"])', 'make > /dev/null 2>&1'), 'skip')
    assert.equal(await kindOf('prefix_rule(["make"], redirects=["> *.log"])', 'make > a.log 2>&1'), 'skip')
    assert.equal(await kindOf('prefix_rule(["make"], redirects=["> *.log"])', 'make >> a.log'), 'ask')
    assert.equal(await kindOf('prefix_rule(["make"], redirects=["> build/*"])', 'make > build/../x'), 'ask')
  })

  test('lets a command out of the sandbox only if all that match it say so', async () => {
    const both = 'prefix_rule(["git"])\nprefix_rule(["git", "push"], sandbox="bypass")'
    assert.equal(await kindOf(both, 'git push'), 'skip')
    assert.equal(await kindOf('prefix_rule(["git", "push"], sandbox="bypass")', 'git push'), 'outside')
  })

  test('lets a program out of the sandbox by its name only where nobody else can have put it', async () => {
    const rule = 'prefix_rule(["tool"], sandbox="bypass")'
    assert.equal(await kindOf(rule, '/work/tool'), 'ask')
    assert.equal(await kindOf(rule, '/usr/bin/tool'), 'skip')
    assert.equal(
      await kindOf(rule, '/usr/bin/tool', { approvalPolicy: 'on-request', sandboxPermissions: 'require_escalated' }),
      'ask',
    )
    assert.equal(await kindOf(`${rule}\nhost_executable("tool", ["/usr/bin/tool"])`, '/usr/bin/tool'), 'outside')
    assert.equal(await kindOf('prefix_rule(["/work/tool"], sandbox="bypass")', '/work/tool'), 'outside')
  })

  test('does not let a command out that is redirected to a file, which may be a link by now', async () => {
    const rule = 'prefix_rule(["echo"], sandbox="bypass", redirects=["> build/*", ">> *", "< *", "&> *", "2> *"])'
    for (const redirect of ['> build/log', '>> log', '2> /dev/null >> log', '&> log', '2> log', '< log']) {
      assert.equal(await kindOf(rule, `echo x ${redirect}`), 'skip', redirect)
      assert.equal(await kindOf(rule, `echo x && echo y ${redirect}`), 'skip', redirect)
      const escalated = { approvalPolicy: 'on-request', sandboxPermissions: 'require_escalated' } as const
      assert.equal(await kindOf(rule, `echo x ${redirect}`, escalated), 'ask', redirect)
    }
    for (const redirect of ['2>&1', '> /dev/null', '2> /dev/null', '&> /dev/null', '<&-', '< /dev/null']) {
      assert.equal(await kindOf(rule, `echo x ${redirect}`), 'outside', redirect)
    }
    assert.equal(
      await kindOf('prefix_rule(["/work/tool"], sandbox="bypass", redirects=["> *"])', '/work/tool > x'),
      'skip',
    )
  })

  test('for a shell allows scripts that cannot be seen through, and no others', async () => {
    const rule = 'prefix_rule(["bash", "-lc"])'
    assert.equal(await kindOf(rule, 'for i in 1 2; do make; done'), 'skip')
    assert.equal(await kindOf(rule, 'make'), 'ask')
  })
})

describe('a rule that prompts or forbids', () => {
  const rules =
    'prefix_rule(["git", "push"], "forbidden")\nprefix_rule(["bash"])\nprefix_rule(["sudo"])\nprefix_rule(["env"])'
  const hidden = [
    'git push',
    'FOO=1 git push > log',
    'for i in 1; do git push; done',
    'echo $(git push)',
    'if true; then X=1 git push origin 2> log; fi',
    '(cd x && git push)',
    'git push &',
    "bash -c 'git push'",
    'bash -c \'bash -c "git push"\'',
    "eval 'git push'",
    'sudo git push',
    'sudo -u me env A=1 git push',
    'xargs -n 1 git push',
    "sudo bash -c 'git push'",
    'true && /usr/bin/git push',
    '../../usr/bin/git push',
    'flock lock git push',
    'flock lock -c "git push"',
    'strace -f git push',
    'watch -n 1 git push',
    "watch 'git push; ls'",
    "parallel 'git push {}' ::: origin",
    'nsenter -t 1 git push',
    'setpriv --reuid 1 git push',
    'taskset -c 0 git push',
    "script -c 'git push'",
    "script -qc'git push' log",
    "su --command='git push' me",
    "fish -c 'git push'",
    "tcsh -c 'git push'",
    'npx git push',
    "echo 'git push' | sh",
    'echo git push | bash -s',
    "printf '%s %s\\n' git push | sudo -n dash -e",
    "cat <<'END' | sh\ngit push\nEND\n",
    "bash -c 'echo git push | sh'",
  ]
  for (const script of hidden) {
    test(`is not escaped by \`${script}\``, async () => assert.equal(await kindOf(rules, script), 'forbidden'))
  }

  test('is not about text that only looks like it', async () => {
    for (const script of ["echo 'git push'", 'echo git push', 'git status', 'git stash push']) {
      assert.equal(await kindOf(rules, script), 'ask', script)
    }
  })

  test('has somebody asked about what is nested too deep to be seen', async () => {
    let script = 'git push'
    for (let i = 0; i < 12; i++) script = `bash -c ${JSON.stringify(script)}`
    assert.notEqual(await kindOf(rules, ['bash', '-x', '-c', script]), 'skip')
    assert.notEqual(await kindOf(rules, script), 'skip')
  })

  test('is not escaped by a crowd of commands that look like it', async () => {
    const crowd = Array.from({ length: 2000 }, (_, i) => `git ${i}`)
    assert.equal(await kindOf(rules, `(${[...crowd, 'git push'].join(';')})`, { approvalPolicy: 'never' }), 'forbidden')
    const words = crowd.flatMap((text) => text.split(' '))
    assert.equal(await kindOf(rules, ['env', ...words, 'git', 'push'], { approvalPolicy: 'never' }), 'forbidden')
  })

  test('of any layer is stronger than what others allow', async () => {
    const layers = [
      layer('system', 'prefix_rule(["a"], "forbidden")'),
      layer('user', 'prefix_rule(["a"], sandbox="bypass")'),
    ]
    for (const each of [layers, [...layers].reverse()]) {
      assert.equal((await policyOf(each).judge(call('a'))).kind, 'forbidden')
    }
  })
})

test('rules that allow both ends of a pipe do not allow what a shell is fed through it', async () => {
  const rules = 'prefix_rule(["curl"])\nprefix_rule(["sh"])\nprefix_rule(["cat"])'
  assert.equal(await kindOf(rules, 'curl https://example.com | sh'), 'ask')
  assert.equal(await kindOf(rules, 'cat x | sh -s'), 'ask')
  assert.equal(await kindOf(rules, 'cat x | sh ./y.sh'), 'skip')
  assert.equal(await kindOf(rules, 'curl https://example.com | cat'), 'skip')
})

describe('a shell that is not the usual one', () => {
  test('has to be allowed itself, whatever it runs', async () => {
    const rules = 'prefix_rule(["make"], sandbox="bypass")'
    assert.equal(await kindOf(rules, ['/usr/bin/zsh', '-c', 'make']), 'outside')
    assert.equal(await kindOf(rules, ['/work/bash', '-c', 'make']), 'ask')
    assert.equal(await kindOf(rules, ['/usr/bin/../../work/bash', '-c', 'make']), 'ask')
    assert.equal(await kindOf(rules, ['bash', '-c', 'make']), 'ask')
    assert.equal(await kindOf(rules, ['/opt/bash', '-c', 'make'], { shell: '/opt/bash' }), 'outside')
    const both = `${rules}\nprefix_rule(["/work/bash"], sandbox="bypass")`
    assert.equal(await kindOf(both, ['/work/bash', '-c', 'make']), 'outside')
    assert.equal(await kindOf(both, ['/work/bash', '-c', 'other']), 'ask')
  })

  test('is never proposed as a rule', async () => {
    const requirement = await policyOf('').judge(call(['/work/bash', '-c', 'make'], { approvalPolicy: 'untrusted' }))
    assert.ok(requirement.kind === 'ask' && requirement.amendment === undefined)
  })
})

describe('an explanation', () => {
  test('names the rule that decided, where it is written, and what would change it', async () => {
    const policy = policyOf('\nprefix_rule(["git", "push"], "prompt", justification="it is seen by others")')
    assert.deepEqual((await policy.judge(call('/usr/bin/git push'))).why, [
      {
        source: 'rule',
        text: 'a rule wants to be asked about commands that begin with `git push` (here /usr/bin/git): it is seen by others',
        origin: 'user.rules:2',
        otherwise: 'no other rule can relax it: change it where it is written',
      },
    ])
  })

  test('says why a rule that looks right does not hold', async () => {
    const otherwise = async (rules: string, script: string, rest = {}) =>
      (await policyOf(rules).judge(call(script, { approvalPolicy: 'untrusted', ...rest }))).why.map(
        (why) => why.otherwise,
      )
    assert.deepEqual(await otherwise('prefix_rule(["make"])', 'make > log'), [
      'the rule at user.rules:1 does not allow it: it redirects with `> log`, and the rule has no redirects=["> log"]',
    ])
    assert.deepEqual(await otherwise('prefix_rule(["make"])', 'A=1 make'), [
      'the rule at user.rules:1 does not allow it: it sets A, and the rule has no env=["A"]',
    ])
    assert.deepEqual(await otherwise('prefix_rule(["make"])\nhost_executable("make", ["/usr/bin/make"])', '/x/make'), [
      'the rule at user.rules:1 does not allow it: host_executable("make") does not list /x/make',
    ])
    assert.deepEqual(await otherwise('prefix_rule(["make"])', '/x/make'), [
      'the rule at user.rules:1 does not allow it: /x/make is in no directory of the system, and no host_executable("make") lists it',
    ])
    assert.deepEqual(await otherwise('prefix_rule(["make"])', 'make', { sandboxPermissions: 'require_escalated' }), [
      'the rule at user.rules:1 allows it inside the sandbox only',
    ])
    assert.deepEqual(await otherwise('', 'make all'), [
      'with prefix_rule(pattern=["make", "all"], decision="allow") it would be allowed',
    ])
  })

  test('says why a command stays inside that a rule would let out', async () => {
    const policy = policyOf('prefix_rule(["make"], sandbox="bypass", redirects=["> *"])')
    assert.deepEqual((await policy.judge(call('make && make > log'))).why, [
      {
        source: 'rule',
        text: 'a rule allows commands that begin with `make`',
        origin: 'user.rules:1',
        otherwise: 'with sandbox="keep" it would run inside the sandbox',
      },
      {
        source: 'rule',
        text: 'a rule allows commands that begin with `make`, this one inside the sandbox only: outside, `> log` could follow a link to any file',
        origin: 'user.rules:1',
        otherwise: 'without that redirect it would run outside of the sandbox',
      },
    ])
    const escalated = await policy.judge(call('make > log', { sandboxPermissions: 'require_escalated' }))
    assert.equal(
      escalated.why[0]?.otherwise,
      'the rule at user.rules:1 allows it inside the sandbox only: outside, `> log` could follow a link to any file',
    )
  })

  test('has every part of the command with what was said about it', async () => {
    const explanation = await policyOf('prefix_rule(["a"])\nprefix_rule(["b"], "prompt")').explain(
      call('a x && c | sudo b y'),
    )
    assert.equal(explanation.decision, 'prompt')
    assert.deepEqual(
      explanation.segments.map(({ role, segment, matches, heuristic, decision }) => {
        return [role, segment.words.join(' '), matches.map(({ rule }) => rule.origin.line), heuristic?.source, decision]
      }),
      [
        ['command', 'a x', [1], undefined, 'allow'],
        ['command', 'c', [], 'approval-policy', 'allow'],
        ['command', 'sudo b y', [], 'approval-policy', 'allow'],
        ['within', 'b y', [2], undefined, 'prompt'],
      ],
    )
  })

  test('stays short for a long command', async () => {
    const script = Array.from({ length: 100 }, (_, i) => `c${i}`).join(';')
    const { why } = await policyOf('').judge(call(script, { approvalPolicy: 'untrusted' }))
    assert.equal(why.length, 21)
    const forbidden = await policyOf('prefix_rule(["c1"], "forbidden")').judge(call(script))
    assert.ok(forbidden.kind === 'forbidden' && forbidden.reason.length < 1200)
  })
})

describe('a danger', () => {
  const tooDeep = Array.from({ length: 12 }).reduce<string>((script) => `bash -c ${JSON.stringify(script)}`, 'ls')
  const REMOVAL = /rejected: rm -f style commands are not permitted/

  test('is that of the command it is in, and of no other', async () => {
    const { segments } = await policyOf('').explain(call(`bash -c 'ls' && bash -c 'rm -rf x'`))
    assert.deepEqual(
      segments.map(({ segment, heuristic }) => [segment.words.at(-1), heuristic?.source]),
      [
        ['ls', 'approval-policy'],
        ['rm -rf x', 'dangerous'],
      ],
    )
    const rules = `prefix_rule(["bash", "-c", "rm -rf x"])`
    assert.equal(await kindOf(rules, `bash -c 'ls' && bash -c 'rm -rf x'`, { approvalPolicy: 'never' }), 'skip')
  })

  test('is told for what it is where nobody can be asked', async () => {
    const unasked = { granular: { sandboxApproval: false, rules: true, requestPermissions: false } }
    const crowd = `(${Array.from({ length: 2000 }, (_, i) => `git ${i}`).join(';')})`
    for (const approvalPolicy of ['never', unasked] as const) {
      const reason = async (command: Parameters<typeof call>[0], rules = '') => {
        const requirement = await policyOf(rules).judge(call(command, { approvalPolicy }))
        return requirement.kind === 'forbidden' ? requirement.reason : requirement.kind
      }
      assert.match(await reason('rm -rf x'), REMOVAL)
      assert.match(await reason(['bash', '-x', '-c', tooDeep]), /rejected: it is nested too deep/)
      assert.match(await reason(['bash', '-x', '-c', `rm -rf x; ${tooDeep}`]), REMOVAL)
      assert.match(
        await reason(crowd, 'prefix_rule(["git", "push"], "forbidden")'),
        /rejected: it has more in it than can be held against the rules/,
      )
    }
  })
})

test('a command that cannot be taken apart is not judged at all', async () => {
  const { RulePolicy } = await import('./rule-policy.ts')
  const policy = new RulePolicy({
    rules: policyOf('').rules,
    scripts: { commandLine: () => Promise.reject(new Error('no grammar')) },
    store: { append: async () => {} },
  })
  await assert.rejects(policy.judge(call('a')), /no grammar/)
})
