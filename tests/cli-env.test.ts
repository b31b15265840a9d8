import assert from 'node:assert/strict'
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startServer } from '@waldo/testkit'
import { Person } from './cli-waldo.ts'

const WRITTEN_BY_HAND = `# My machines.

default = "one"   # until the other is back

# The one upstairs.
[[environments]]
id   = 'one'
url  = "ws://127.0.0.1:1"

[[environments]] # downstairs
id = "two"
program = "ssh"
args = [
  "two",  # not [[environments]]
  """
[[environments]]
""",
]
[environments.env]
KEY = "value"

# --- the end ---
`

function configured(person: Person, text: string): string {
  mkdirSync(person.configDir, { recursive: true })
  const file = join(person.configDir, 'environments.toml')
  writeFileSync(file, text)
  return file
}

describe('waldo env', () => {
  test('list shows what there is, and which is the default', async () => {
    using person = new Person()
    assert.equal((await person.waldo(['env', 'list'])).stdout.trim(), `* local  this machine  ${person.directory}`)
    configured(person, WRITTEN_BY_HAND)
    const { stdout } = await person.waldo(['env', 'list'])
    assert.match(
      stdout,
      /^\* one {4}ws:\/\/127.0.0.1:1\n {2}local {2}this machine .*\n {2}two {4}ssh two "\[\[environments/m,
    )
    const listed = JSON.parse((await person.waldo(['env', 'list', '--json'])).stdout)
    assert.deepEqual(listed[0], { id: 'one', default: true, transport: 'ws://127.0.0.1:1', cwd: null })
  })

  test('list never shows a token', async () => {
    using person = new Person()
    configured(person, '[[environments]]\nid = "a"\nurl = "wss://a"\nauth_bearer_token = "s3cret"\n')
    for (const args of [
      ['env', 'list'],
      ['env', 'list', '--json'],
    ]) {
      assert.doesNotMatch((await person.waldo(args)).stdout, /s3cret/)
    }
  })

  test('add creates a file for nobody else to read', async () => {
    using person = new Person()
    const args = ['env', 'add', 'devbox', 'wss://devbox:1', '--token-file', 't', '--cwd', '/srv', '--default']
    const { code, stdout } = await person.waldo(args)
    assert.deepEqual([code, stdout.includes('waldo env check devbox')], [0, true])
    const file = join(person.configDir, 'environments.toml')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(
      readFileSync(file, 'utf8'),
      `default = "devbox"\n\n[[environments]]\nid = "devbox"\nurl = "wss://devbox:1"\ntoken_file = "${person.path('t')}"\ncwd = "/srv"\n`,
    )
  })

  test('add and remove leave the rest as somebody has written it', async () => {
    using person = new Person()
    const file = configured(person, WRITTEN_BY_HAND)
    await person.waldo(['env', 'add', 'three', '--default', '--', 'podman', 'exec', 'say "hi"\n', 'waldo'])
    const added = '\n[[environments]]\nid = "three"\nprogram = "podman"\nargs = ["exec", "say \\"hi\\"\\n", "waldo"]\n'
    const withThree = WRITTEN_BY_HAND.replace('default = "one" ', 'default = "three" ') + added
    assert.equal(readFileSync(file, 'utf8'), withThree)
    await person.waldo(['env', 'remove', 'two'])
    const withoutTwo = withThree.replace(/\[\[environments\]\] # downstairs[\s\S]*?KEY = "value"\n\n/, '')
    assert.equal(readFileSync(file, 'utf8'), withoutTwo)
    const { stdout } = await person.waldo(['env', 'remove', 'three'])
    assert.match(stdout, /it was the default/)
    await person.waldo(['env', 'remove', 'one'])
    assert.equal(readFileSync(file, 'utf8'), '# My machines.\n\n\n# --- the end ---\n')
  })

  test('a link to the file stays a link, and its mode stays', async () => {
    using person = new Person()
    writeFileSync(person.path('dotfile'), '# kept\n', { mode: 0o640 })
    mkdirSync(person.configDir)
    symlinkSync(person.path('dotfile'), join(person.configDir, 'environments.toml'))
    assert.equal((await person.waldo(['env', 'add', 'a', 'ws://a:1'])).code, 0)
    assert.ok(lstatSync(join(person.configDir, 'environments.toml')).isSymbolicLink())
    assert.match(readFileSync(person.path('dotfile'), 'utf8'), /^# kept\n\n\[\[environments\]\]\nid = "a"\n/)
    assert.equal(statSync(person.path('dotfile')).mode & 0o777, 0o640)
  })

  for (const { title, args, says } of [
    { title: 'a name that is taken', args: ['add', 'one', 'ws://a:1'], says: /there is an environment `one` already/ },
    { title: 'a name that is reserved', args: ['add', 'local', 'ws://a:1'], says: /`local` is reserved/ },
    { title: 'a name that is none', args: ['add', 'a b', 'ws://a:1'], says: /only ASCII letters/ },
    { title: 'an address that is none', args: ['add', 'web', 'https://a'], says: /must use ws:\/\/ or wss:\/\// },
    { title: 'no address', args: ['add', 'web'], says: /URL is missing/ },
    { title: 'no program', args: ['add', 'web', '--'], says: /no program/ },
    { title: 'both', args: ['add', 'web', 'ws://a', '--', 'ssh'], says: /unexpected argument `ws:\/\/a`/ },
    { title: 'a token for a program', args: ['add', 'x', '--token-file', 't', '--', 'ssh'], says: /for a URL/ },
    { title: 'an unknown name', args: ['remove', 'nine'], says: /no environment `nine`; it has: one, two/ },
    { title: 'an unknown action', args: ['destroy'], says: /expected list, check, add or remove/ },
  ]) {
    test(`${title}: says so and changes nothing`, async () => {
      using person = new Person()
      const file = configured(person, WRITTEN_BY_HAND)
      const { code, stderr } = await person.waldo(['env', ...args])
      assert.equal(code, 1)
      assert.match(stderr, says)
      assert.equal(readFileSync(file, 'utf8'), WRITTEN_BY_HAND)
      assert.ok(!existsSync(`${file}.new`))
    })
  }

  test('what cannot be edited safely is left to its author', async () => {
    using person = new Person()
    const inline = 'environments = [{ id = "a", url = "ws://a:1" }]\n'
    const file = configured(person, inline)
    assert.match((await person.waldo(['env', 'remove', 'a'])).stderr, /edit it by hand/)
    assert.equal((await person.waldo(['env', 'add', 'b', 'ws://b:1'])).code, 1)
    assert.equal(readFileSync(file, 'utf8'), inline)
  })

  test('two at once do not lose what the other did', async () => {
    using person = new Person()
    const ids = ['a', 'b', 'c', 'd', 'e', 'f']
    const add = async (id: string): Promise<void> => {
      const { code, stderr } = await person.waldo(['env', 'add', id, 'ws://a:1'])
      if (code === 0) return
      assert.match(stderr, /somebody else is changing/)
      await add(id)
    }
    await Promise.all(ids.map(add))
    const listed = JSON.parse((await person.waldo(['env', 'list', '--json'])).stdout) as { id: string }[]
    assert.deepEqual(listed.map(({ id }) => id).sort(), [...ids, 'local'])
  })

  test('check says what it found; 1 if somebody cannot be reached', async () => {
    using person = new Person()
    await using server = await startServer()
    // Takes connections and says nothing.
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    await person.waldo(['env', 'add', 'up', server.url])
    await person.waldo(['env', 'add', 'down', 'ws://127.0.0.1:1'])
    await person.waldo(['env', 'add', 'mute', `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`])
    const up = await person.waldo(['env', 'check', 'up', 'local', server.url])
    assert.equal(up.code, 0, up.stderr)
    assert.match(up.stdout, /✓ up\n {4}round trip +[\d.]+ ms\n {4}executor +\d[^\n]* on linux\n {4}shell[\s\S]*fsWatch/)
    const all = await person.waldo(['env', 'check', '--timeout', '1s'])
    silent.close()
    assert.equal(all.code, 1)
    assert.match(all.stdout, /✗ down\n {4}.*\n {4}Is nobody listening there\?/)
    assert.match(all.stdout, /✗ mute\n {4}no answer within 1 s/)
    const [one] = JSON.parse((await person.waldo(['env', 'check', '--json', 'up'])).stdout)
    assert.deepEqual([one.id, one.ok, typeof one.latencyMs, one.platform], ['up', true, 'number', 'linux'])
    assert.equal(one.sandbox, 'available')
    assert.match((await person.waldo(['env', 'check', 'nobody'])).stderr, /there are: local, up, down, mute/)
  })
})
