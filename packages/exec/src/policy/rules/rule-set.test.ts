import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Redirect } from '../../script/segment.ts'
import { permitsVariable } from './env-pattern.ts'
import { loadRules } from './load-rules.ts'
import { isHarmlessRedirect, permitsRedirect } from './redirect-pattern.ts'
import { matchesWildcard } from './wildcard.ts'

function matched(text: string, ...words: string[]): unknown[] {
  const set = loadRules([{ name: 'user', files: [{ path: 'a', text }] }])
  return set
    .match({ words, assignments: [], redirects: [] })
    .matches.map(({ rule, matchedPrefix, resolvedProgram }) => {
      return [rule.decision, matchedPrefix.join(' '), ...(resolvedProgram === undefined ? [] : [resolvedProgram])]
    })
}

describe('a prefix rule', () => {
  test('is about whole words at the beginning, as they are written', () => {
    const rule = 'prefix_rule(["git", ["pull", "fetch"], "-v"])'
    assert.deepEqual(matched(rule, 'git', 'fetch', '-v', 'origin'), [['allow', 'git fetch -v']])
    assert.deepEqual(matched(rule, 'git', 'pull', '-v'), [['allow', 'git pull -v']])
    for (const words of [
      ['git', 'pull'],
      ['git', 'push', '-v'],
      ['git', 'pull', '-vv'],
      ['Git', 'pull', '-v'],
      ['sudo', 'git', 'pull', '-v'],
      [],
    ]) {
      assert.deepEqual(matched(rule, ...words), [])
    }
  })

  test('that allows a program allows it where the system has its programs, and elsewhere only what is listed', () => {
    const rule = 'prefix_rule(["git"])'
    for (const directory of ['/bin', '/usr/bin', '/usr/local/bin', '/sbin', '/usr/local/sbin', '/opt/homebrew/bin']) {
      assert.deepEqual(matched(rule, `${directory}/git`, 'x'), [['allow', 'git', `${directory}/git`]])
    }
    for (const path of [
      '/opt/git',
      '/ws/bin/git',
      '/git',
      '//usr/bin/git',
      '/usr/bin/x/git',
      '/usr/bin/../../ws/git',
    ]) {
      assert.deepEqual(matched(rule, path, 'x'), [], path)
    }
    assert.deepEqual(matched(`${rule}\nhost_executable("git", ["/opt/git"])`, '/opt/git'), [
      ['allow', 'git', '/opt/git'],
    ])
    assert.deepEqual(matched('prefix_rule(["/opt/git"])', '/opt/git'), [['allow', '/opt/git']])
    const listed = `${rule}\nhost_executable("git", ["/usr/bin/git"])`
    assert.deepEqual(matched(listed, '/usr/bin/git'), [['allow', 'git', '/usr/bin/git']])
    assert.deepEqual(matched(listed, '/opt/git'), [])
    assert.deepEqual(matched(listed, '/usr/bin/../bin/git'), [])
    assert.deepEqual(matched(`${rule}\nhost_executable("git", [])`, '/usr/bin/git'), [])
    assert.deepEqual(matched(rule, './git'), [])
    assert.deepEqual(matched(rule, '../../usr/bin/git'), [])
  })

  test('is listed by the last host_executable of a layer, and by all layers that speak of it', () => {
    const file = (text: string) => [{ path: 'a', text }]
    const project = (text: string) => ({ name: 'project', files: file(text) })
    const user = {
      name: 'user',
      files: file('prefix_rule(["git"])\nhost_executable("git", ["/b/git"])\nhost_executable("git", ["/a/git"])'),
    }
    const allows = (path: string, text: string) =>
      loadRules([user, project(text)]).match({ words: [path], assignments: [], redirects: [] }).matches.length === 1
    assert.ok(allows('/a/git', ''))
    assert.ok(!allows('/b/git', ''))
    assert.ok(!allows('/evil/git', 'host_executable("git", ["/evil/git", "/a/git"])'))
    assert.ok(allows('/a/git', 'host_executable("git", ["/evil/git", "/a/git"])'))
    assert.ok(!allows('/a/git', 'host_executable("git", ["/evil/git"])'))
  })

  test('that prompts or forbids holds for a program wherever it lies, and is not weakened by any other', () => {
    const rules = 'prefix_rule(["rm"], "forbidden")\nprefix_rule(["/bin/rm"])\nhost_executable("rm", ["/usr/bin/rm"])'
    for (const path of ['/bin/rm', '/usr/bin/rm', './rm', '../../bin/rm', 'bin/rm']) {
      assert.ok(
        matched(rules, path).some((match) => JSON.stringify(match).includes('forbidden')),
        path,
      )
    }
    assert.deepEqual(matched(rules, 'rm'), [['forbidden', 'rm']])
  })

  test('that prompts or forbids holds whatever options come before', () => {
    const rules = 'prefix_rule(["git", "push"], "forbidden")\nprefix_rule(["git", "status"])'
    for (const options of ['-C .', '--no-pager', '-c a=b -C x', '--git-dir=/x --bare -C .', '-p -C -x']) {
      assert.deepEqual(
        matched(rules, 'git', ...options.split(' '), 'push', 'now'),
        [['forbidden', 'git push']],
        options,
      )
      // What is allowed is allowed as it is written.
      assert.deepEqual(matched(rules, 'git', ...options.split(' '), 'status'), [], options)
    }
    for (const words of ['log push', 'log -C . push', '-C . log push', '-C', '-C .', '.']) {
      assert.deepEqual(matched(rules, 'git', ...words.split(' ')), [], words)
    }
  })
})

describe('env of a rule', () => {
  test('names variables, with `*` for any part', () => {
    assert.ok(permitsVariable('FOO', 'FOO'))
    assert.ok(permitsVariable('npm_*', 'npm_config_x'))
    assert.ok(permitsVariable('*', 'ANYTHING'))
    assert.ok(!permitsVariable('FOO', 'FOOD'))
    assert.ok(!permitsVariable('*_X', 'X'))
  })

  test('names what runs code only if it is written out', () => {
    for (const name of [
      'PATH',
      'LD_PRELOAD',
      'BASH_ENV',
      'NODE_OPTIONS',
      'GIT_SSH_COMMAND',
      'PAGER',
      'GIT_PAGER',
      'IFS',
    ]) {
      assert.ok(!permitsVariable('*', name), name)
      assert.ok(!permitsVariable(`${name.slice(0, 2)}*`, name), name)
      assert.ok(permitsVariable(name, name), name)
    }
  })
})

describe('redirects of a rule', () => {
  const redirect = (operator: Redirect['operator'], target: string, descriptor?: number): Redirect => {
    return { operator, target, ...(descriptor !== undefined && { descriptor }) }
  }

  const permitted: readonly (readonly [pattern: string, redirect: Redirect])[] = [
    ['> log', redirect('>', 'log')],
    ['>log', redirect('>', 'log')],
    ['> log', redirect('>', 'log', 1)],
    ['1> log', redirect('>', 'log')],
    ['> log', redirect('>|', 'log')],
    ['> *', redirect('>', '/etc/passwd')],
    ['> *', redirect('>', '../x')],
    ['>> build/*', redirect('>>', 'build/a.log')],
    ['> build/*/x-*.log', redirect('>', 'build/a/x-1.log')],
    ['2> *', redirect('>', 'log', 2)],
    ['< *', redirect('<', 'in')],
    ['< in', redirect('<', 'in', 0)],
    ['&> log', redirect('&>', 'log')],
    ['&> log', redirect('>&', 'log')],
    ['&>> *', redirect('&>>', 'log')],
    ['<> *', redirect('<>', 'f')],
    ['> a b', redirect('>', 'a b')],
    ['> /dev/tcp/a/80', redirect('>', '/dev/tcp/a/80')],
  ]
  for (const [pattern, given] of permitted) {
    test(`\`${pattern}\` permits ${JSON.stringify(given)}`, () => assert.ok(permitsRedirect(pattern, given)))
  }

  const refused: readonly (readonly [pattern: string, redirect: Redirect])[] = [
    ['> log', redirect('>>', 'log')],
    ['> log', redirect('>', 'log', 2)],
    ['> log', redirect('>', './log')],
    ['> *', redirect('>', 'log', 3)],
    ['> *', redirect('&>', 'log')],
    ['> *', redirect('<', 'log')],
    ['> build/*', redirect('>', 'build/../../etc/passwd')],
    ['> build/*', redirect('>', 'build/..')],
    ['> build/*', redirect('>', 'build/a/b')],
    ['> build/*', redirect('>', 'build/')],
    ['> build/*', redirect('>', 'build')],
    ['> */x', redirect('>', '../x')],
    ['> *', redirect('>', '/dev/tcp/evil.example/80')],
    ['< *', redirect('<', '/dev/udp/evil.example/53')],
    ['2>&1', redirect('>', 'log')],
    ['< *', redirect('<&', 'x')],
  ]
  for (const [pattern, given] of refused) {
    test(`\`${pattern}\` does not permit ${JSON.stringify(given)}`, () => assert.ok(!permitsRedirect(pattern, given)))
  }

  test('need not name what changes no file', () => {
    for (const each of [
      redirect('>&', '1', 2),
      redirect('<&', '-', 0),
      redirect('>', '/dev/null', 2),
      redirect('&>', '/dev/null'),
    ]) {
      assert.ok(isHarmlessRedirect(each))
    }
    for (const each of [
      redirect('>&', 'log'),
      redirect('>&', '1-'),
      redirect('>', '/dev/null/../sda'),
      redirect('>', '1'),
    ]) {
      assert.ok(!isHarmlessRedirect(each))
    }
  })

  test('take no time to speak of, however many stars there are', () => {
    assert.ok(!matchesWildcard('*a'.repeat(2000), 'a'.repeat(1999)))
    assert.ok(matchesWildcard('*a'.repeat(2000), 'a'.repeat(500_000)))
    assert.ok(!matchesWildcard(`${'*a'.repeat(2000)}*b`, 'a'.repeat(1_000_000)))
  })
})
