import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Amendment } from '../orchestrator/requirement.ts'
import { AmendmentError, amendmentText } from './amendment.ts'
import type { CommandToJudge } from './command-policy.ts'
import { call, layer, MemoryStore, policyOf, UNRESTRICTED } from './fixtures/sample-policy.ts'
import { isBannedPrefix } from './judgement/banned-prefixes.ts'
import { MAX_RULES } from './rules/load-rules.ts'

async function proposal(rules: string, command: Parameters<typeof call>[0], rest: Partial<CommandToJudge> = {}) {
  const requirement = await policyOf(rules).judge(call(command, { approvalPolicy: 'untrusted', ...rest }))
  return requirement.kind === 'forbidden' ? undefined : requirement.amendment
}

const keep = (...prefix: string[]): Amendment => ({ prefix })
const bypass = (...prefix: string[]): Amendment => ({ prefix, sandbox: 'bypass' })
const ON_REQUEST = { approvalPolicy: 'on-request' } as const
const ESCALATED = { ...ON_REQUEST, sandboxPermissions: 'require_escalated' } as const

describe('the rule that is proposed', () => {
  test('has all words of the first command that is asked about', async () => {
    assert.deepEqual(await proposal('', 'npm test'), keep('npm', 'test'))
    assert.deepEqual(await proposal('prefix_rule(["ls"])', 'ls && npm test && make'), keep('npm', 'test'))
    assert.deepEqual(await proposal('', 'rm -rf build', ON_REQUEST), keep('rm', '-rf', 'build'))
    const loop = 'for i in 1; do make; done'
    assert.deepEqual(await proposal('', loop), keep('/bin/bash', '-lc', loop))
  })

  test('lets out of the sandbox only where that is the question', async () => {
    assert.deepEqual(await proposal('', 'npm i', ESCALATED), bypass('npm', 'i'))
    assert.deepEqual(await proposal('', 'npm i', ON_REQUEST), bypass('npm', 'i'))
    assert.equal(
      await proposal('', 'npm i', { ...ON_REQUEST, sandboxPermissions: 'with_additional_permissions' }),
      undefined,
    )
  })

  test('is none where a rule asks, or where one speaks of what is allowed', async () => {
    assert.equal(await proposal('prefix_rule(["a"], "prompt")', 'a'), undefined)
    assert.equal(await proposal('prefix_rule(["a"], "prompt")', 'b && a'), undefined)
    assert.equal(await proposal('prefix_rule(["a"], "prompt")', 'for i in 1; do a; done'), undefined)
    assert.equal(await proposal('prefix_rule(["a"])', 'a && b', ON_REQUEST), undefined)
  })

  test('is none that would be ignored afterwards', async () => {
    assert.equal(await proposal('', 'make > log'), undefined)
    assert.equal(await proposal('', 'A=1 make'), undefined)
    assert.equal(await proposal('prefix_rule(["make"])', 'make', ESCALATED), undefined)
    assert.deepEqual(await proposal('', 'make 2>&1'), keep('make'))
  })

  test('is none that would allow everything', async () => {
    for (const argv of [['python3'], ['git'], ['/usr/bin/env'], ['bash', '-x'], ['timeout', '10']]) {
      assert.equal(await proposal('', argv), undefined)
    }
    const suggested = { ...ESCALATED, prefixRule: ['timeout', '10'] }
    assert.deepEqual(await proposal('', 'timeout 10 make', suggested), bypass('timeout', '10', 'make'))
  })

  test('is the one that the model suggests, if it would do', async () => {
    assert.deepEqual(
      await proposal('', 'npm run build', { prefixRule: ['npm', 'run', 'build'] }),
      keep('npm', 'run', 'build'),
    )
    assert.deepEqual(await proposal('', 'git pull origin', { prefixRule: ['git', 'pull'] }), keep('git', 'pull'))
    assert.deepEqual(
      await proposal('', 'git pull origin', { ...ESCALATED, prefixRule: ['git', 'pull'] }),
      bypass('git', 'pull'),
    )
    assert.deepEqual(await proposal('', 'a 1 && a 2', { prefixRule: ['a'] }), keep('a'))
    assert.deepEqual(await proposal('', 'a 1 && a 2', { ...ON_REQUEST, prefixRule: ['a'] }), bypass('a'))
  })

  test('is not the one that the model suggests otherwise', async () => {
    const own = keep('git', 'pull', 'origin')
    const suggest = (...prefixRule: string[]) => proposal('', 'git pull origin', { prefixRule })
    assert.deepEqual(await suggest(), own)
    assert.deepEqual(await suggest('git'), own)
    assert.deepEqual(await suggest('git', 'push'), own)
    assert.deepEqual(await suggest('git', ''), own)
    assert.deepEqual(await suggest('git', 'pull', 'a\0'), own)
    assert.deepEqual(await proposal('', 'a && b', { prefixRule: ['a'] }), keep('a'))
    assert.deepEqual(await proposal('', 'a x && b', { prefixRule: ['a'] }), keep('a', 'x'))
    assert.deepEqual(await proposal('prefix_rule(["b"])', 'a x && b', { prefixRule: ['a'] }), keep('a', 'x'))
    assert.deepEqual(await proposal('', 'a x', { ...ON_REQUEST, prefixRule: ['b'] }), bypass('a', 'x'))
  })

  test('answers the question: with it, the same command is allowed', async () => {
    for (const rest of [{}, ESCALATED, { ...ON_REQUEST }]) {
      const policy = policyOf('')
      const command = call('npm ci --quiet', { approvalPolicy: 'untrusted', ...rest })
      const before = await policy.judge(command)
      assert.ok(before.kind !== 'forbidden' && before.amendment)
      await policy.amend(before.amendment, 'project')
      const after = await policy.judge(command)
      assert.ok(after.kind === 'skip' && after.amendment === undefined)
      assert.equal(after.bypassSandbox, rest !== undefined && 'approvalPolicy' in rest)
    }
  })
})

describe('a rule that is saved', () => {
  test('is a line as somebody would write it, and holds at once', async () => {
    const store = new MemoryStore()
    const policy = policyOf('', store)
    await policy.amend({ prefix: ['git', 'pull'] }, 'project')
    await policy.amend({ prefix: ['echo', 'a "b"\n\\'] }, 'user')
    await policy.amend(bypass('make'), 'user')
    assert.deepEqual(store.lines, [
      'project: prefix_rule(pattern=["git", "pull"], decision="allow")',
      String.raw`user: prefix_rule(pattern=["echo", "a \"b\"\n\\"], decision="allow")`,
      'user: prefix_rule(pattern=["make"], decision="allow", sandbox="bypass")',
    ])
    const requirement = await policy.judge(call('git pull', { approvalPolicy: 'untrusted' }))
    assert.equal(requirement.kind, 'skip')
    assert.equal(requirement.why[0]?.origin, 'default.rules (project, saved since)')
    assert.equal(policy.rules.prefixRules.length, 3)
  })

  test('does not hold if it could not be written', async () => {
    const policy = policyOf('', { append: () => Promise.reject(new Error('disk full')) })
    await assert.rejects(policy.amend({ prefix: ['a'] }, 'user'), /disk full/)
    assert.equal(policy.rules.prefixRules.length, 0)
  })

  const banned = [
    ['bash'],
    ['bash', '-lc'],
    ['/bin/sh', '-c'],
    ['/opt/homebrew/bin/zsh'],
    ['python3', '-c'],
    ['python', '-'],
    ['node', '-e'],
    ['perl', '-e'],
    ['deno', 'eval'],
    ['php', '-r'],
    ['npm', 'run'],
    ['bun', 'run'],
    ['py', '-3'],
    ['cmd.exe', '/c'],
    ['pwsh', '-EncodedCommand'],
    ['env'],
    ['sudo'],
    ['git'],
    ['rm'],
    ['/bin/rm'],
    ['xargs'],
    ['osascript'],
  ]
  test('is never one that would allow everything', async () => {
    const store = new MemoryStore()
    for (const prefix of [
      ...banned,
      [],
      [''],
      ['a\0'],
      ['a', '\ud800'],
      Array<string>(65).fill('a'),
      ['a'.repeat(5000)],
    ]) {
      await assert.rejects(policyOf('', store).amend({ prefix }, 'user'), AmendmentError, prefix.join(' '))
    }
    assert.deepEqual(store.lines, [])
    for (const prefix of [
      ['npm'],
      ['npm', 'run', 'build'],
      ['git', 'pull'],
      ['python3', 'x.py'],
      ['constructor'],
      ['py', 'toString'],
    ]) {
      assert.ok(!isBannedPrefix(prefix), prefix.join(' '))
    }
  })

  test('cannot go into a layer that only restricts', async () => {
    const policy = policyOf([layer('project', '', { restrictsOnly: true })])
    await assert.rejects(policy.amend({ prefix: ['a'] }, 'project'), /can only restrict/)
    await assert.rejects(policy.amendNetwork('a.com', 'https', 'allow', 'project'), /can only restrict/)
    await policy.amendNetwork('a.com', 'https', 'deny', 'project')
    await policy.amend({ prefix: ['a'] }, 'user')
  })

  test('that is there already changes nothing, also if it is saved twice at once', async () => {
    const store = new MemoryStore()
    const policy = policyOf('prefix_rule(["a"])\nnetwork_rule("A.com", "https", "deny")', store)
    const before = policy.rules
    await policy.amend({ prefix: ['a'] }, 'user')
    await policy.amendNetwork('a.com', 'https_connect', 'deny', 'user')
    assert.equal(policy.rules, before)
    assert.deepEqual(store.lines, [])
    await Promise.all([policy.amend({ prefix: ['b'] }, 'user'), policy.amend({ prefix: ['b'] }, 'user')])
    await policy.amend({ prefix: ['b'] }, 'project')
    await policy.amend({ prefix: ['a'], sandbox: 'bypass' }, 'user')
    assert.deepEqual(store.lines, [
      'user: prefix_rule(pattern=["b"], decision="allow")',
      'project: prefix_rule(pattern=["b"], decision="allow")',
      'user: prefix_rule(pattern=["a"], decision="allow", sandbox="bypass")',
    ])
    assert.equal(policy.rules.size, before.size + 3)
  })

  test('is refused before anything is written when there could be no more rules', async () => {
    const store = new MemoryStore()
    const rules = Array.from({ length: MAX_RULES - 1 }, (_, i) => `prefix_rule(["a${i}"])`).join('\n')
    const policy = policyOf(rules, store)
    const saved = await Promise.allSettled([
      policy.amend({ prefix: ['b'] }, 'user'),
      policy.amend({ prefix: ['c'] }, 'user'),
      policy.amendNetwork('a.com', 'https', 'deny', 'user'),
      policy.amend({ prefix: ['a1'] }, 'user'),
    ])
    assert.deepEqual(
      saved.map(
        (each) => each.status === 'fulfilled' || (each.reason instanceof AmendmentError && each.reason.message),
      ),
      [
        true,
        ...Array(2).fill('the rule is not saved: there are 10000 rules, and no more can be used; delete some first'),
        true,
      ],
    )
    assert.deepEqual(store.lines, ['user: prefix_rule(pattern=["b"], decision="allow")'])
  })

  test('that could not be saved does not keep the next one from being saved', async () => {
    const memory = new MemoryStore()
    let isFull = true
    const append = async (scope: string, line: string) => {
      if (isFull) throw new Error('the disk is full')
      await memory.append(scope, line)
    }
    const policy = policyOf('', { append })
    await assert.rejects(policy.amend({ prefix: ['a'] }, 'user'), /the disk is full/)
    assert.equal(policy.rules.size, 0)
    isFull = false
    await policy.amend({ prefix: ['a'] }, 'user')
    assert.equal(memory.lines.length, 1)
  })

  test('has a text that can be shown before', () => {
    assert.equal(amendmentText({ prefix: ['a', 'b c'] }), 'prefix_rule(pattern=["a", "b c"], decision="allow")')
  })
})

describe('rules for hosts', () => {
  test('are three lists, in which the strictest rule counts', () => {
    const rules = `
network_rule("a.com", "https", "allow")
network_rule("b.com", "https", "deny")
network_rule("b.com", "http", "allow")
network_rule("c.com", "https", "prompt")
network_rule("c.com", "https", "allow")
network_rule("A.com:80", "http", "allow")`
    assert.deepEqual(policyOf(rules).networkRules(), { allow: ['a.com'], ask: ['c.com'], deny: ['b.com'] })
  })

  test('are saved, and hold at once', async () => {
    const store = new MemoryStore()
    const policy = policyOf('network_rule("no.com", "https", "deny")', store)
    await policy.amendNetwork('Yes.com', 'https', 'allow', 'project')
    await policy.amendNetwork('other.com', 'http', 'deny', 'user')
    assert.deepEqual(store.lines, [
      'project: network_rule(host="Yes.com", protocol="https", decision="allow")',
      'user: network_rule(host="other.com", protocol="http", decision="deny")',
    ])
    assert.deepEqual(policy.networkRules(), { allow: ['yes.com'], ask: [], deny: ['no.com', 'other.com'] })
    await assert.rejects(
      policy.amendNetwork('NO.com', 'https', 'allow', 'user'),
      /user\.rules:1 says "forbidden" for no\.com/,
    )
    await assert.rejects(policy.amendNetwork('*.com', 'https', 'allow', 'user'), /wildcards are not allowed/)
    const both = policyOf('network_rule("a.com", "https", "allow")\nnetwork_rule("a.com", "http", "deny")', store)
    await assert.rejects(both.amendNetwork('a.com', 'https', 'allow', 'user'), /user\.rules:2 says "forbidden"/)
    const ftp = 'ftp' as 'http'
    await assert.rejects(policy.amendNetwork('a.com', ftp, 'allow', 'user'), {
      name: 'AmendmentError',
      message: /^the rule is not saved: invalid protocol: "ftp"; use http, /,
    })
    await policy.amendNetwork('yes.com', 'https', 'deny', 'user')
    assert.deepEqual(policy.networkRules(), { allow: [], ask: [], deny: ['no.com', 'yes.com', 'other.com'] })
  })
})

test('where files are not restricted there is nothing to leave, and a rule still can be saved', async () => {
  assert.deepEqual(await proposal('', 'a', { permissions: UNRESTRICTED }), keep('a'))
})
