import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { call, layer, policyOf } from './fixtures/sample-policy.ts'
import { STARTER_RULES } from './starter-rules.ts'

describe('the rules for a start', () => {
  const policy = policyOf([layer('starter', STARTER_RULES)])
  const kindOf = async (script: string, rest = {}) => {
    const requirement = await policy.judge(call(script, { approvalPolicy: 'untrusted', ...rest }))
    assert.ok(requirement.kind !== 'skip' || !requirement.bypassSandbox)
    return requirement.kind
  }

  const allowed = [
    'ls -la && cat README.md | grep -n x | head -5',
    'cd src; pwd',
    'wc -l < file',
    'git --version',
    '/usr/bin/cat x',
    'ls 2>/dev/null',
    'tail -n 3 log 2>&1',
  ]
  for (const script of allowed) test(`allow \`${script}\``, async () => assert.equal(await kindOf(script), 'skip'))

  const asked = [
    'find . -name x',
    'find . -exec rm {} +',
    'rg --pre ./evil x',
    'sed -n 1p file',
    'sort -o file file',
    'uniq in out',
    'base64 -o out in',
    'git status',
    'git log',
    'git diff --ext-diff',
    'git -c core.fsmonitor=./evil status',
    'echo x > file',
    'cat a >> b',
    'cat < /dev/tcp/a.example/80',
    'PATH=. ls',
    'LD_PRELOAD=./x.so cat a',
    './ls',
    '/ws/tools/cat x',
    '/tmp/ls',
    'ls $(touch x)',
    'ls; touch x',
    'env ls',
    'sudo cat /etc/shadow',
    "bash -c 'ls'",
    'awk 1 file',
    'tee file',
  ]
  for (const script of asked) test(`do not allow \`${script}\``, async () => assert.equal(await kindOf(script), 'ask'))

  test('answer no question about leaving the sandbox', async () => {
    const rest = { approvalPolicy: 'on-request', sandboxPermissions: 'require_escalated' }
    assert.equal(await kindOf('cat /etc/shadow', rest), 'ask')
  })
})
