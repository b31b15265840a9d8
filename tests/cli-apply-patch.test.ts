import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { startServer } from '@waldo/testkit'
import { Person } from './cli-waldo.ts'

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n')
const CHANGE = patch('*** Update File: a.txt', '@@', ' one', '-two', '+2', '*** Add File: new/b.txt', '+hello')

function withFile(): Person {
  const person = new Person()
  writeFileSync(person.path('a.txt'), 'one\ntwo\nthree\n')
  return person
}

const textOf = (person: Person, file = 'a.txt') => readFileSync(person.path(file), 'utf8')

describe('waldo apply-patch', () => {
  test('applies a patch that is an argument, and says what it has changed', async () => {
    using person = withFile()
    const result = await person.waldo(['apply-patch', CHANGE])
    assert.deepEqual(result, {
      code: 0,
      stdout: 'Success. Updated the following files:\nA new/b.txt\nM a.txt\n',
      stderr: '',
    })
    assert.deepEqual([textOf(person), textOf(person, 'new/b.txt')], ['one\n2\nthree\n', 'hello\n'])
  })

  test('applies a patch that comes on standard input', async () => {
    using person = withFile()
    assert.equal((await person.waldo(['apply-patch'], CHANGE)).code, 0)
    assert.equal(textOf(person), 'one\n2\nthree\n')
  })

  test('--dry-run shows the difference and changes nothing', async () => {
    using person = withFile()
    const { code, stdout } = await person.waldo(['apply-patch', '--dry-run', CHANGE])
    assert.equal(code, 0)
    assert.equal(
      stdout,
      '--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+hello\n',
    )
    assert.equal(textOf(person), 'one\ntwo\nthree\n')
    assert.ok(!existsSync(person.path('new')))
  })

  test('a patch of which a part does not fit changes nothing, and exits with 1 and what is there instead', async () => {
    using person = withFile()
    const misfit = patch('*** Add File: c.txt', '+c', '*** Update File: a.txt', '@@', ' one', '-zwei', '+2')
    const { code, stdout, stderr } = await person.waldo(['apply-patch', misfit])
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /^Error: Failed to find expected lines in a\.txt .*\none\nzwei\n/)
    assert.match(stderr, / 2 \| two\n/)
    assert.deepEqual([textOf(person), existsSync(person.path('c.txt'))], ['one\ntwo\nthree\n', false])
  })

  test('more than one argument exits with 2, and so does no patch at all', async () => {
    using person = withFile()
    const more = await person.waldo(['apply-patch', '***', 'Begin', 'Patch'])
    assert.deepEqual([more.code, more.stdout], [2, ''])
    assert.match(more.stderr, /quote it/)
    for (const input of ['', ' \n\n']) {
      const { code, stdout, stderr } = await person.waldo(['apply-patch'], input)
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, /^Error: there is no patch: .*\nwaldo apply-patch --help/)
    }
    const patch = '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch'
    const nowhere = await person.waldo(['apply-patch', '--cwd', '/not/there', patch])
    assert.equal(nowhere.code, 1)
    assert.match(nowhere.stderr, /^Error: cannot work in \S+\/not\/there: there is no such directory/)
    const noDirectory = await person.waldo(['apply-patch', '--dry-run', '--cwd', 'a.txt', patch])
    assert.equal(noDirectory.code, 1)
    assert.match(noDirectory.stderr, /^Error: cannot work in \S+\/a\.txt: it is not a directory/)
    assert.equal((await person.waldo(['apply-patch', '--frob', CHANGE])).code, 2)
    assert.equal((await person.waldo(['apply-patch', '--sandbox', 'soft', CHANGE])).code, 2)
    assert.equal(textOf(person), 'one\ntwo\nthree\n')
  })

  test('what is no patch, or no text, exits with an error that says so', async () => {
    using person = withFile()
    const wrong = await person.waldo(['apply-patch', 'diff --git a b'])
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /first line of the patch must be '\*\*\* Begin Patch'/)
    const binary = await person.waldo(['apply-patch'], Uint8Array.of(0xff, 0xfe, 0))
    assert.equal(binary.code, 2)
    assert.match(binary.stderr, /not UTF-8/)
  })

  test('--cwd is what paths are relative to', async () => {
    using person = withFile()
    mkdirSync(person.path('sub'))
    const { code } = await person.waldo(['apply-patch', '--cwd', 'sub', patch('*** Add File: x', '+x')])
    assert.equal(code, 0)
    assert.deepEqual(readdirSync(person.path('sub')), ['x'])
  })

  test('--sandbox workspace keeps a patch from changing anything outside', async () => {
    using person = withFile()
    mkdirSync(person.path('work'))
    const inWorkspace = ['apply-patch', '--sandbox', 'workspace', '--cwd', 'work']
    // Temporary files may be written, and the home of this person is one: a place that is none has to do.
    const outside = `/var/waldo-apply-patch-${process.pid}`
    const refused = await person.waldo([
      ...inWorkspace,
      patch('*** Add File: in.txt', '+x', `*** Add File: ${outside}`, '+x'),
    ])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /nothing has changed: Read-only file system/)
    assert.deepEqual([existsSync(outside), readdirSync(person.path('work'))], [false, []])
    const allowed = await person.waldo([...inWorkspace, patch('*** Add File: in.txt', '+x')])
    assert.equal(allowed.code, 0, allowed.stderr)
    const readOnly = ['apply-patch', '--sandbox', 'read-only']
    assert.equal((await person.waldo([...readOnly, CHANGE])).code, 1)
    assert.equal((await person.waldo([...readOnly, '--dry-run', CHANGE])).code, 0)
    assert.equal(textOf(person), 'one\ntwo\nthree\n')
  })

  test('--env does it on another machine, where paths are relative to where commands start', async () => {
    using person = withFile()
    await using server = await startServer({ cwd: person.directory })
    mkdirSync(person.configDir, { recursive: true })
    mkdirSync(person.path('there'))
    const configured = `[[environments]]\nid = "devbox"\nurl = "${server.url}"\ncwd = "${person.path('there')}"\n`
    writeFileSync(`${person.configDir}/environments.toml`, configured)
    const add = patch('*** Add File: made.txt', '+by hand')
    assert.equal((await person.waldo(['apply-patch', '--env', 'devbox', add])).code, 0)
    assert.equal(textOf(person, 'there/made.txt'), 'by hand\n')
    const named = patch('*** Environment ID: devbox', '*** Delete File: made.txt')
    const unasked = await person.waldo(['apply-patch', named])
    assert.equal(unasked.code, 1)
    assert.match(unasked.stderr, /for the environment `devbox`\n.*--env devbox/)
    assert.equal(
      (await person.waldo(['apply-patch', '-e', 'devbox', named])).stdout,
      'Success. Updated the following files:\nD made.txt\n',
    )
    const unknown = await person.waldo(['apply-patch', '--env', 'nowhere', add])
    assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
    assert.match(unknown.stderr, /there are: /)
  })

  test('on a terminal, what a file holds cannot act on it, and a patch can be typed', async () => {
    using person = withFile()
    writeFileSync(person.path('a.txt'), 'one\n\u001b]0;title\u0007\ttwo\n')
    await using screen = person.terminal('waldo apply-patch --dry-run; echo "[$?]"')
    await screen.shows('Ctrl-D ends it')
    screen.type(`${patch('*** Update File: a.txt', '@@', '-one', '+1')}\u0004`)
    await screen.shows('[0]')
    await screen.shows('<U+001B>]0;title<U+0007>')
    assert.ok(!screen.text.includes('\u0007'))
  })
})
