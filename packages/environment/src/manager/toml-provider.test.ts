import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { ExecError } from '../errors.ts'
import { checkSnapshot } from './environment-snapshot.ts'
import { TomlProvider } from './toml-provider.ts'

const FILE = '/etc/waldo/environments.toml'
const read = (text: string) => new TomlProvider(text, FILE).snapshot()

function refusal(text: string): string {
  try {
    read(text)
  } catch (error) {
    assert.ok(ExecError.is(error, 'CONFIG_INVALID'), String(error))
    return error.message
  }
  throw new Error(`accepted: ${text}`)
}

/** Without `undefined`, which is as good as missing. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

describe('an environments.toml', () => {
  test('of codex is accepted unchanged', () => {
    const snapshot = read(`
default = "devbox"
include_local = true
[[environments]]
id = "devbox"
url = "wss://host/path"
auth_bearer_token = "secret"
connect_timeout_sec = 10.0
initialize_timeout_sec = 2.5
[[environments]]
id = "ssh-dev"
program = "ssh"
args = ["dev", "codex exec-server --listen stdio"]
cwd = "relative/dir"
[environments.env]
KEY = "value"
[environments.skills]
required = ["a", "b"]
`)
    assert.deepEqual(plain(snapshot), {
      environments: [
        {
          id: 'devbox',
          transport: {
            kind: 'url',
            url: 'wss://host/path',
            token: 'secret',
            connectTimeoutMs: 10_000,
            initializeTimeoutMs: 2500,
          },
        },
        {
          id: 'ssh-dev',
          transport: {
            kind: 'command',
            program: 'ssh',
            args: ['dev', 'codex exec-server --listen stdio'],
            env: { KEY: 'value' },
            cwd: '/etc/waldo/relative/dir',
          },
        },
      ],
      default: 'devbox',
      includeLocal: true,
    })
    checkSnapshot(snapshot)
  })

  test('may name unix sockets, token files and a directory over there', () => {
    const { environments } = read(`
[[environments]]
id = "a"
url = "unix:///run/waldo.sock"
token_file = "secrets/token"
cwd = "C:\\\\work"
[[environments]]
id = "b"
url = " ws://b "
token_file = "/run/token"
cwd = "file:///srv"
`)
    assert.deepEqual(plain(environments), [
      {
        id: 'a',
        transport: { kind: 'url', url: 'unix:///run/waldo.sock', tokenFile: '/etc/waldo/secrets/token' },
        cwd: 'C:\\work',
      },
      { id: 'b', transport: { kind: 'url', url: 'ws://b', tokenFile: '/run/token' }, cwd: 'file:///srv' },
    ])
  })

  test('without a default means local if that is included, and otherwise none', () => {
    assert.deepEqual(read(''), { environments: [], default: 'local', includeLocal: true })
    assert.deepEqual(read('include_local = false'), { environments: [], default: null, includeLocal: false })
    assert.equal(read('default = "None"').default, null)
    assert.equal(read('default = "local"').default, 'local')
  })

  test('that breaks a rule is refused with the line and the rule', () => {
    const id = (text: string) => `[[environments]]\nurl = "ws://x"\nid = ${JSON.stringify(text)}`
    const box = (text: string) => `[[environments]]\nid = "box"\n${text}`
    const long = 'x'.repeat(65)
    const cases: [string, number, string][] = [
      [id(''), 3, 'environment id cannot be empty'],
      [id('  '), 3, 'environment id cannot be empty'],
      [id(' a'), 3, 'environment id ` a` must not contain surrounding whitespace'],
      [id('local'), 3, 'environment id `local` is reserved'],
      [id('NoNe'), 3, 'environment id `NoNe` is reserved'],
      [id(long), 3, `environment id \`${long}\` cannot be longer than 64 characters`],
      [id('a.b'), 3, "environment id `a.b` must contain only ASCII letters, numbers, '-' or '_'"],
      [id('ü'), 3, "environment id `ü` must contain only ASCII letters, numbers, '-' or '_'"],
      [`${id('a')}\n${id('b')}\n${id('a')}`, 9, 'environment id `a` is duplicated'],
      [box('url = "ws://x"\nargs = []'), 4, 'environment `box` args, env, and cwd require program'],
      [box('url = "ws://x"\n[environments.env]'), 4, 'environment `box` args, env, and cwd require program'],
      [box('cwd = "x"'), 3, 'environment `box` args, env, and cwd require program'],
      [box('program = "x"\nconnect_timeout_sec = 1'), 4, 'environment `box` connect_timeout_sec requires url'],
      [box('program = "x"\nauth_bearer_token = "t"'), 4, 'environment `box` auth_bearer_token requires url'],
      [box('program = "x"\ntoken_file = "t"'), 4, 'environment `box` token_file requires url'],
      [
        box('url = "ws://x"\ntoken_file = "t"\nauth_bearer_token = "t"'),
        4,
        'environment `box` must set at most one of auth_bearer_token and token_file',
      ],
      [box('url = "ws://x"\ntoken_file = " "'), 4, 'environment `box` token_file cannot be empty'],
      [box('url = "ws://x"\nprogram = "y"'), 4, 'environment `box` must set exactly one of url or program'],
      [`# first\n${box('')}`, 2, 'environment `box` must set exactly one of url or program'],
      [box('program = " "'), 3, 'environment `box` program cannot be empty'],
      [box('\nurl = " "'), 4, 'environment url cannot be empty'],
      [
        box('url = "http://x"'),
        3,
        'environment url `http://x` must use ws:// or wss://, or unix:///path for a socket of this machine',
      ],
      [box('url = "ws://"'), 3, 'environment url `ws://` is invalid: expected ws://host:port/path'],
      [
        box('url = "ws://x"\ncwd = "here"'),
        4,
        '`here` is not absolute: write a path such as /home/me or C:\\me, or a file: URI',
      ],
      [`\ndefault = ""`, 2, 'default environment id cannot be empty'],
      [`default = "bax"\n${box('url = "ws://x"')}`, 1, 'default environment `bax` is not configured'],
      ['include_local = false\ndefault = "local"', 2, 'default environment `local` is not configured'],
    ]
    for (const [text, line, message] of cases) assert.equal(refusal(text), `${FILE}:${line}: ${message}`, text)
  })

  test('is checked in a fixed order', () => {
    const wrong = {
      id: '[[environments]]\nid = " "\nargs = []\nconnect_timeout_sec = 1',
      program: '[[environments]]\nid = "a"\nargs = []\nconnect_timeout_sec = 1\nauth_bearer_token = "t"',
      timeout: '[[environments]]\nid = "a"\nconnect_timeout_sec = 1\nauth_bearer_token = "t"',
      token: '[[environments]]\nid = "a"\nauth_bearer_token = "t"',
      one: '[[environments]]\nid = "a"\nurl = ""\nprogram = ""',
      content: '[[environments]]\nid = "a"\nurl = "ws://x"\n[[environments]]\nid = "a"\nurl = ""',
      duplicate:
        'default = "x"\n[[environments]]\nid = "a"\nurl = "ws://x"\n[[environments]]\nid = "a"\nurl = "ws://x"',
    }
    assert.match(refusal(wrong.id), /id cannot be empty$/)
    assert.match(refusal(wrong.program), /require program$/)
    assert.match(refusal(wrong.timeout), /connect_timeout_sec requires url$/)
    assert.match(refusal(wrong.token), /auth_bearer_token requires url$/)
    assert.match(refusal(wrong.one), /exactly one of url or program$/)
    assert.match(refusal(wrong.content), /url cannot be empty$/)
    assert.match(refusal(wrong.duplicate), /is duplicated$/)
  })

  test('with an unknown key is refused with the nearest one that exists', () => {
    const unknown = (text: string, line: number, key: string, nearest: string) =>
      assert.equal(
        refusal(text),
        `${FILE}:${line}: failed to parse environment config \`${FILE}\`: unknown key \`${key}\`; did you mean \`${nearest}\`?`,
      )
    unknown('defualt = "x"', 1, 'defualt', 'default')
    unknown('\n[environment]\nid = "x"', 2, 'environment', 'environments')
    unknown('[[environments]]\nid = "x"\nurll = "ws://x"', 3, 'urll', 'url')
    unknown('[[environments]]\nid = "x"\nURL = "ws://x"', 3, 'URL', 'url')
    unknown('[[environments]]\nid = "x"\nbearer_token = "x"', 3, 'bearer_token', 'auth_bearer_token')
    assert.match(refusal('__proto__ = 1'), /unknown key `__proto__`/)
    assert.match(refusal(`${'k'.repeat(100_000)} = 1`), /unknown key `k{64}…`/)
  })

  test('with a value of another type is refused', () => {
    const inBox = (line: string) => `[[environments]]\nid = "box"\n${line}`
    const cases: [string, number, string][] = [
      ['default = 1', 1, '`default` must be a string'],
      ['include_local = "yes"', 1, '`include_local` must be true or false'],
      ['environments = 1', 1, '`environments` must be an array of tables, each below a line [[environments]]'],
      ['environments = [1]', 1, '`environments` must be an array of tables, each below a line [[environments]]'],
      ['[environments]', 1, '`environments` must be an array of tables, each below a line [[environments]]'],
      ['\n[[environments]]\nurl = "ws://x"', 2, 'missing key `id`'],
      [inBox('args = "x"'), 3, '`args` must be an array of strings'],
      [inBox('args = ["x", 1]'), 3, '`args` must be an array of strings'],
      [inBox('env = "x"'), 3, '`env` must be a table'],
      [inBox('env = 2020-01-01'), 3, '`env` must be a table'],
      [inBox('[environments.env]\nA = "1"\nB = 2'), 5, '`B` must be a string'],
      [inBox('skills = 1'), 3, '`skills` must be a table'],
      [inBox('connect_timeout_sec = -1'), 3, '`connect_timeout_sec` must be a number of seconds from 0 to 2147483'],
      [inBox('connect_timeout_sec = nan'), 3, '`connect_timeout_sec` must be a number of seconds from 0 to 2147483'],
      [
        inBox('initialize_timeout_sec = inf'),
        3,
        '`initialize_timeout_sec` must be a number of seconds from 0 to 2147483',
      ],
    ]
    for (const [text, line, message] of cases) {
      assert.equal(refusal(text), `${FILE}:${line}: failed to parse environment config \`${FILE}\`: ${message}`)
    }
  })

  test('that is no TOML is refused with the line, and without the token that stands near it', () => {
    const message = refusal('[[environments]]\nauth_bearer_token = "secret"\nurl = \nid = "x"')
    assert.match(message, /^\/etc\/waldo\/environments.toml:3: failed to parse environment config `[^`]+`: [^\n]+$/)
    assert.doesNotMatch(message, /secret/)
  })

  test('keeps variables with odd names', () => {
    const { environments } = read(
      '[[environments]]\nid = "a"\nprogram = "p"\nenv = { __proto__ = "x", toString = "y" }',
    )
    const [a] = environments
    assert.ok(a?.transport.kind === 'command')
    assert.deepEqual(Object.entries(a.transport.env), [
      ['__proto__', 'x'],
      ['toString', 'y'],
    ])
  })

  test('is read or refused with a line, whatever stands in it', () => {
    const word = fc.constantFrom(
      ...['[[environments]]', '[environments.env]', 'id', 'url', 'program', 'args', 'default', '=', '"a"', '"ws://x"'],
      ...['[', ']', '{', '}', '"""', "'''", '"', "'", '#', '\n', '\n', '\n', '.', ',', '1', 'true', '\\', ' '],
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        try {
          checkSnapshot(read(words.join('')))
        } catch (error) {
          assert.ok(ExecError.is(error, 'CONFIG_INVALID'), String(error))
          assert.match(error.message, /^\/etc\/waldo\/environments\.toml:\d+: /)
        }
      }),
      { numRuns: 2000 },
    )
  })
})
