import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { STARTER_RULES } from '../starter-rules.ts'
import { loadRules, MAX_RULE_FILE_CHARACTERS, type RuleLayer } from './load-rules.ts'
import { RulesError } from './rules-error.ts'

const layer = (text: string, rest: Partial<RuleLayer> = {}): RuleLayer => ({
  name: 'user',
  files: [{ path: 'a.rules', text }],
  ...rest,
})
const load = (text: string) => loadRules([layer(text)])

function problemsOf(...layers: readonly RuleLayer[]): string[] {
  try {
    loadRules(layers)
  } catch (error) {
    assert.ok(error instanceof RulesError)
    return error.message.split('\n')
  }
  return []
}

describe('rules', () => {
  test('carry their fields and where they are written', () => {
    const set = load(`# comment
prefix_rule(["git", ["pull", "fetch", "pull"]], justification="they only read", sandbox="bypass", env=["GIT_*"], redirects=["> log"])
prefix_rule(pattern=["rm"], decision="forbidden")
host_executable(name="git", paths=["/usr/bin/git", "/usr/bin/git"])
network_rule("Example.COM.:443", "http-connect", "deny", "not there")`)
    assert.deepEqual(set.prefixRules, [
      {
        kind: 'prefix',
        pattern: [['git'], ['pull', 'fetch']],
        decision: 'allow',
        justification: 'they only read',
        sandbox: 'bypass',
        env: ['GIT_*'],
        redirects: ['> log'],
        origin: { layer: 'user', file: 'a.rules', line: 2 },
      },
      {
        kind: 'prefix',
        pattern: [['rm']],
        decision: 'forbidden',
        sandbox: 'keep',
        env: [],
        redirects: [],
        origin: { layer: 'user', file: 'a.rules', line: 3 },
      },
    ])
    assert.deepEqual(set.hostExecutables, [
      {
        kind: 'host-executable',
        name: 'git',
        paths: ['/usr/bin/git'],
        origin: { layer: 'user', file: 'a.rules', line: 4 },
      },
    ])
    assert.deepEqual(set.networkRules, [
      {
        kind: 'network',
        host: 'example.com',
        protocol: 'https',
        decision: 'forbidden',
        justification: 'not there',
        origin: { layer: 'user', file: 'a.rules', line: 5 },
      },
    ])
  })

  const refused: readonly (readonly [text: string, problem: string])[] = [
    ['prefix_rule()', '1: prefix_rule needs `pattern`'],
    ['prefix_rule([])', '13: pattern cannot be empty'],
    ['prefix_rule("git")', '13: `pattern` must be a list (got string)'],
    ['prefix_rule(["a", []])', '19: pattern alternatives cannot be empty'],
    ['prefix_rule(["a", None])', '19: pattern element must be a string or list of strings (got None)'],
    ['prefix_rule(["a", [["b"]]])', '20: pattern element must be a string or list of strings (got list)'],
    ['prefix_rule([["a", ""]])', '13: the first word of a pattern is a program: it has a name'],
    ['prefix_rule(["a"], "maybe")', '20: invalid decision: "maybe"; use allow, prompt, forbidden'],
    ['prefix_rule(["a"], decision=None)', '29: `decision` must be a string (got None)'],
    ['prefix_rule(["a"], justification="  ")', '34: justification cannot be empty'],
    ['prefix_rule(["a"], pattern=["b"])', '20: `pattern` is given twice'],
    ['prefix_rule(pattern=["a"], "allow")', '28: an argument without a name after one with a name'],
    ['prefix_rule(["a"], "allow", [], [], None, "keep")', '43: prefix_rule takes 5 arguments without a name at most'],
    [
      'prefix_rule(["a"], reviewer="me")',
      '20: prefix_rule has no parameter `reviewer`; it has pattern, decision, match, not_match, justification, sandbox, env, redirects',
    ],
    ['prefix_rule(["a"], sandbox="off")', '28: invalid sandbox: "off"; use keep, bypass'],
    ['prefix_rule(["a"], "prompt", sandbox="keep")', '38: `sandbox` is for allow rules: others hold whatever it is'],
    ['prefix_rule(["a"], "forbidden", env=["A"])', '37: `env` is for allow rules: others hold whatever it is'],
    ['prefix_rule(["a"], env=["A B"])', '25: env: "A B" must be the name of a variable, with `*` for any part of it'],
    ['prefix_rule(["a"], env=["A=1"])', '25: env: "A=1" must be the name of a variable, with `*` for any part of it'],
    [
      'prefix_rule(["a"], redirects=["log"])',
      '31: redirects: "log" must be a redirect such as "> build/*", "2>> log" or "< *"',
    ],
    [
      'prefix_rule(["a"], redirects=["> a/**"])',
      '31: redirects: "> a/**" holds `**`: `*` alone is any path, and any part of one name otherwise',
    ],
    ['prefix_rule(["a"], redirects=["> ../*"])', '31: redirects: "> ../*" holds `..`, `.` or an empty name beside `*`'],
    [
      'prefix_rule(["a"], redirects=["2&> a"])',
      '31: redirects: "2&> a" has a descriptor before `&>`, which redirects two of them',
    ],
    ['prefix_rule(["a"], match=["b"])', '27: the example ["b"] is not matched by this rule'],
    ['prefix_rule(["a"], match=[["a"], ["b", "a"]])', '34: the example ["b","a"] is not matched by this rule'],
    ['prefix_rule(["a"], not_match=["b", "a c"])', '36: the example ["a","c"] must not be matched by this rule'],
    ['prefix_rule(["a"], match=[""])', '27: match: an example cannot be empty'],
    ['prefix_rule(["a"], match=[[]])', '27: match: an example cannot be empty'],
    ['prefix_rule(["a"], match=[True])', '27: match: an example is a string or a list of strings (got True)'],
    [
      'prefix_rule(["a"], match=["a \'b"])',
      '27: match: an example is one command, and this has a quote that is never closed: write its words as a list',
    ],
    [
      'prefix_rule(["a"], match=["a > b"])',
      '27: match: an example is one command, and this has an unquoted ">": write its words as a list',
    ],
    ['host_executable("a/b", [])', '17: host_executable name must be a bare file name (got "a/b")'],
    ['host_executable("a", ["b/a"])', '23: host_executable paths must be absolute (got "b/a")'],
    ['host_executable("a", ["/b/c"])', '23: "/b/c" does not end in the name `a`'],
    ['host_executable("a")', '1: host_executable needs `paths`'],
    [
      'network_rule("*.a.com", "https", "allow")',
      '14: network_rule host must be a specific host; wildcards are not allowed',
    ],
    [
      'network_rule("https://a.com", "https", "allow")',
      '14: network_rule host must be a host name or an address, without scheme, path, query or fragment',
    ],
    ['network_rule("a b", "https", "allow")', '14: network_rule host cannot contain whitespace'],
    ['network_rule(" ", "https", "allow")', '14: network_rule host cannot be empty'],
    ['network_rule("a:b", "https", "allow")', '14: network_rule host is not valid: "a:b"'],
    [
      'network_rule("a", "ftp", "allow")',
      '19: invalid protocol: "ftp"; use http, https, https_connect, http-connect, socks5_tcp, socks5_udp',
    ],
    ['network_rule("a", "http", "never")', '27: invalid decision: "never"; use allow, prompt, forbidden, deny'],
    ['suffix_rule()', '1: `suffix_rule` is not known: there are prefix_rule, host_executable and network_rule'],
  ]
  for (const [text, problem] of refused) {
    test(`are refused for ${text}`, () => assert.deepEqual(problemsOf(layer(text)), [`a.rules:1:${problem}`]))
  }

  test('have hosts with ports and addresses of both versions, in the one spelling that proxies compare', () => {
    const hosts = {
      'a.com:80': 'a.com',
      '[::1]:80': '::1',
      '[::1]': '::1',
      '::1': '::1',
      '10.0.0.1': '10.0.0.1',
      ' A.: ': undefined,
      ' A. ': 'a',
      'A..': undefined,
      'münchen.de': 'xn--mnchen-3ya.de',
      '127.1': '127.0.0.1',
      '0x7f000001:80': '127.0.0.1',
      '[::FFFF:127.0.0.1]': '127.0.0.1',
      '[FE80:0:0::1%25eth0]:443': 'fe80::1',
      'a..b': undefined,
      'a.1': undefined,
      '256.0.0.1': undefined,
      'a,b': undefined,
      'a:99999': undefined,
      ['a'.repeat(64)]: undefined,
      ['a.'.repeat(500_000)]: undefined,
    }
    for (const [given, host] of Object.entries(hosts)) {
      const text = `network_rule("${given}", "http", "allow")`
      if (host !== undefined) assert.equal(load(text).networkRules[0]?.host, host)
      else assert.match(problemsOf(layer(text)).join(), /^a\.rules:1:14: network_rule host is not valid: .{1,310}$/)
    }
  })

  test('are held against examples with files that host_executable lists, wherever it is written', () => {
    const rule = 'prefix_rule(["git"], match=["/usr/bin/git x", "git"], not_match=["/opt/git x", "./git"])'
    assert.deepEqual(problemsOf(layer(`${rule}\nhost_executable("git", ["/usr/bin/git"])`)), [])
    assert.deepEqual(problemsOf(layer(`${rule}\nhost_executable("git", ["/usr/bin/git", "/opt/git"])`)), [
      'a.rules:1:66: the example ["/opt/git","x"] must not be matched by this rule',
    ])
    assert.deepEqual(problemsOf(layer(rule)), [])
  })

  test('of all files count or none does, and everything that is wrong is told', () => {
    const files = [
      { path: 'a.rules', text: 'prefix_rule(["a"])\nprefix_rule()\nx' },
      { path: 'b.rules', text: 'prefix_rule(["b"], match=["c"])' },
    ]
    const project = { name: 'project', files: [{ path: 'c.rules', text: '\nprefix_rule(1)' }] }
    assert.deepEqual(problemsOf({ name: 'user', files }, project).sort(), [
      'a.rules:2:1: prefix_rule needs `pattern`',
      'a.rules:3:1: `x` is no call: a rules file has calls such as prefix_rule(…), nothing else',
      'b.rules:1:27: the example ["c"] is not matched by this rule',
      'c.rules:2:13: numbers are not supported: write a string',
    ])
  })

  test('of a layer that only restricts cannot allow anything', () => {
    const text =
      'prefix_rule(["a"])\nprefix_rule(["b"], "prompt")\nnetwork_rule("a", "http", "allow")\nnetwork_rule("b", "http", "deny")'
    assert.deepEqual(problemsOf(layer(text, { name: 'managed', restrictsOnly: true })), [
      'a.rules:1:1: the layer "managed" can only restrict: it cannot contain allow rules',
      'a.rules:3:1: the layer "managed" can only restrict: it cannot contain allow rules',
    ])
  })

  test('are as many as somebody could have written, and no more', () => {
    assert.match(problemsOf(layer('#'.repeat(MAX_RULE_FILE_CHARACTERS + 1)))[0]!, /more than 1048576 characters/)
    assert.match(
      problemsOf(layer('prefix_rule(["a"])\n'.repeat(10_001)))[0]!,
      /a\.rules:10001:1: more than 10000 rules/,
    )
  })

  test('of a megabyte are read or refused, however they are made', () => {
    const words = '"a",'.repeat(200_000)
    assert.equal(load(`prefix_rule([[${words}"b"]])`).prefixRules[0]?.pattern[0]?.length, 2)
    const numbered = Array.from({ length: 90_000 }, (_, i) => `"p${i}",`).join('')
    assert.equal(
      load(`prefix_rule([[${numbered}]], match=["p7", "p89999"])`).prefixRules[0]?.pattern[0]?.length,
      90_000,
    )
    const examples = Array.from({ length: 90_000 }, (_, i) => `"e${i}",`).join('')
    assert.equal(problemsOf(layer(`prefix_rule(["a"], match=[${examples}])`)).length, 51)
  })

  test('for a start are valid', () => {
    assert.equal(load(STARTER_RULES).prefixRules.length, 3)
    assert.ok(
      load(STARTER_RULES).prefixRules.every(({ sandbox, decision }) => sandbox === 'keep' && decision === 'allow'),
    )
  })
})
