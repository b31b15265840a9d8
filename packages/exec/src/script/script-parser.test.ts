// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are the shell's.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { grammarFiles } from '../node/bash-grammar.ts'
import { insideOf } from './inside-of.ts'
import { ScriptParser } from './script-parser.ts'
import type { Segment } from './segment.ts'

const parser = new ScriptParser(grammarFiles)
const read = (script: string, shell = 'bash') => parser.commandLine([shell, '-lc', script])
const words = (segments: readonly Segment[]) => segments.map((segment) => segment.words.join(' '))

async function why(script: string, shell?: string): Promise<string> {
  const line = await read(script, shell)
  return line.kind === 'opaque' ? line.why : 'plain'
}

async function within(script: string): Promise<string[]> {
  const line = await read(script)
  return words(insideOf(line).within)
}

describe('a command line', () => {
  test('that is no shell with a script is one command of its words', async () => {
    for (const argv of [
      ['git', 'status'],
      ['bash', 'x.sh'],
      ['bash', '-lc', 'ls', 'x'],
      ['bash', '-x', '-c', 'ls'],
      ['fish', '-c', 'ls; pwd'],
      ['bash', '-ic', 'ls; pwd'],
      ['BASH', '-c', 'ls; pwd'],
    ]) {
      const line = await parser.commandLine(argv)
      assert.ok(line.kind === 'plain')
      const segments = line.segments.map(({ inside: _, ...segment }) => segment)
      assert.deepEqual(segments, [{ words: argv, assignments: [], redirects: [] }])
    }
  })

  test('of a shell is taken apart, wherever that shell is', async () => {
    for (const program of ['bash', '/bin/sh', '/opt/x/zsh', 'bash.exe', 'C:\\x\\bash.exe']) {
      const line = await parser.commandLine([program, '-c', 'ls -l | wc'])
      assert.deepEqual(line.kind === 'plain' && words(line.segments), ['ls -l', 'wc'])
    }
  })

  test('without words is opaque', async () => {
    assert.equal((await parser.commandLine([])).kind, 'opaque')
  })

  test('has its assignments and redirects as parts', async () => {
    assert.deepEqual(await read(`A=1 B="x y" make all > 'a b' 2>&1 -k && ls`), {
      kind: 'plain',
      segments: [
        {
          words: ['make', 'all', '-k'],
          assignments: [
            { name: 'A', value: '1' },
            { name: 'B', value: 'x y' },
          ],
          redirects: [
            { operator: '>', target: 'a b' },
            { operator: '>&', descriptor: 2, target: '1' },
          ],
        },
        { words: ['ls'], assignments: [], redirects: [] },
      ],
    })
  })

  test('that only some shells read that way is opaque for the others', async () => {
    assert.equal(await why('make &> log', 'bash'), 'plain')
    assert.equal(await why('make &> log', 'zsh'), 'plain')
    assert.match(await why('make &> log', 'sh'), /background/)
  })
})

describe('an opaque script', () => {
  test('says what stands in the way, and where', async () => {
    assert.equal(await why('ls $(pwd)'), 'a command substitution at 1:4')
    assert.equal(await why('ls\n  cat <<E\nE\n'), 'a here-document at 2:7')
    assert.equal(await why('if ls; then pwd; fi'), '`if` at 1:1')
    assert.equal(await why('ls & pwd'), 'a command in the background at 1:4')
    assert.equal(await why('ls # x'), 'a comment at 1:4')
    assert.equal(await why('ls é'), 'a character beyond ASCII outside of quotes at 1:4')
    assert.equal(await why('ls HEAD~1'), 'a tilde at 1:8')
    assert.equal(await why('curl x | sh'), 'a pipe into something that runs what it reads at 1:10')
    assert.equal(await why(`"ls" x`), 'a command whose name is quoted at 1:1')
  })

  test('shows the commands in it, wherever they are', async () => {
    for (const script of [
      'if a; then git push; fi',
      'for x in 1 2; do git push; done',
      'case x in x) git push;; esac',
      'f() { git push; }',
      '(git push)',
      'ls "$(git push)"',
      'ls `git push`',
      'ls <(git push)',
      'cat <<E\n$(git push)\nE\n',
      'x=$(git push)',
      'git push &',
      '! git push',
      'git $x push',
      `g"i"t pu\\sh $x`,
      `$'\\x67it' push`,
      'git > log push $x',
      'cat <<E && git push\nx\nE\n',
      'git <<E push\nx\nE\n',
      `eval 'git push'`,
      'eval git push',
      `eval "git push $x"`,
      `trap 'git push' EXIT`,
      `trap -- 'git push' EXIT`,
      `x=1; bash -c 'git push'`,
      `x=1; sudo -u "$u" bash -ec 'git push'`,
      `bash <<'E'\ngit push\nE\n`,
      `bash <<< 'git push'`,
      `env -S 'git push' $x`,
      `ls $(bash -c "eval 'git push'")`,
      'ls ) ; git push',
      'echo git push | sh',
      `echo 'git push' | bash -s -- x`,
      'echo git push |& sh -x > log',
      `echo 'gi\\t push' | sh`,
      `echo -e 'ls\\ngit push' | sh`,
      `printf 'git\\x20%s' push | dash`,
      `printf '%s\\n' ls 'git push' | sh /dev/stdin`,
      `(echo ls; echo 'git push') | { cd x; sh; }`,
      'echo git push | (cat | sh)',
      'echo git push | tee log | sudo -u me bash',
      `{ echo git push; echo x | sh; } | sh`,
      'echo git push | xargs -I% sh -c %',
      `echo 'git push' | bash -c 'sh'`,
      'echo git push | parallel',
      'echo git push | su me',
      'echo git push | sudo -s',
      'echo git push | . /dev/stdin',
      `cat <<< 'git push' | sh`,
      `source /dev/stdin <<< 'git push'`,
      `sudo -s <<'E'\ngit push\nE\n`,
      `cat <<'E' | sh\ngit push\nE\n`,
      `cat <<'E' | tee x | sh && ls\ngit push\nE\n`,
      `bash -c 'echo git push | sh' $x`,
      `script -qc'git push' log $x`,
      `watch -n 1 git 'push;' ls $x`,
    ]) {
      assert.ok((await within(script)).includes('git push'), `${script}: ${await within(script)}`)
    }
  })

  test('does not take data for commands', async () => {
    assert.deepEqual(await within(`cat > x <<'E'\ngit push\nE\n`), ['cat'])
    assert.deepEqual(await within(`echo 'git push' $x`), ['echo git push'])
    assert.deepEqual(await within('ls # git push'), ['ls'])
    assert.deepEqual(await within('echo git push | cat; ls | sh'), ['echo git push', 'cat', 'ls', 'sh'])
  })
})

describe('a plain command', () => {
  test('that hands on a script shows what is inside', async () => {
    assert.deepEqual(await within(`bash -c 'ls; git push'`), ['ls', 'git push'])
    const line = await parser.commandLine(['bash', '-e', '-c', 'git push'])
    assert.deepEqual(words(insideOf(line).within), ['git push'])
  })

  test('shows only what it hands on itself', async () => {
    const line = await read(`bash -c 'ls'; make; sh -c 'sh -c "git push"'`)
    assert.ok(line.kind === 'plain')
    const inside = line.segments.map((segment) => segment.inside && words(segment.inside.within))
    assert.deepEqual(inside, [['ls'], undefined, ['sh -c git push', 'git push']])
  })

  test('gets no more looked at because there are many of it', async () => {
    const line = await read(Array.from({ length: 100 }, (_, i) => `sh -c 'c${i}'`).join(';'))
    assert.ok(line.kind === 'plain')
    assert.equal(insideOf(line).tooDeep, true)
    assert.equal(line.segments.filter(({ inside }) => inside?.tooDeep === undefined).length, 64)
  })
})

test('a pipe into a shell with a script of its own, or into another program, hides nothing', async () => {
  for (const script of [
    'ls | sh x.sh',
    'ls | bash -x -o pipefail ./x y',
    'ls | sudo -n sh x.sh',
    'ls | sudo -S make',
  ]) {
    assert.equal(await why(script), 'plain', script)
  }
})

describe('what is too much', () => {
  const isTooDeep = async (script: string) => {
    const line = await read(script)
    return line.kind === 'opaque' && line.tooDeep === true
  }

  test('nesting is looked through to a depth of eight', async () => {
    assert.equal(await isTooDeep(`${'eval '.repeat(8)}ls`), false)
    assert.equal(await isTooDeep(`${'eval '.repeat(9)}ls`), true)
  })

  test('large, deep and entangled scripts are opaque, and known not to have been read', async () => {
    for (const script of [
      'ls;'.repeat(350_000),
      `ls '${'x'.repeat(1 << 20)}'`,
      'a|'.repeat(20_000),
      '('.repeat(500_000),
      '$('.repeat(20_000),
      `${'$('.repeat(5000)}ls${')'.repeat(5000)}`,
      'a=('.repeat(20_000),
      '[[ '.repeat(20_000),
      '${a:-'.repeat(10_000),
    ]) {
      assert.ok(await isTooDeep(script), script.slice(0, 20))
    }
  })

  test('long scripts that nest nothing are read, and the parser is none the worse for strange ones', async () => {
    for (const script of [
      '`a '.repeat(20_000),
      '"'.repeat(60_001),
      'if a; then '.repeat(5000),
      '! '.repeat(30_000),
      'f() '.repeat(5000),
      'case a in b) '.repeat(4000),
      '<<E '.repeat(15_000),
      `cat <<${'E'.repeat(5000)}\n`,
      `cat ${"<<'EEEEEEEE' ".repeat(500)}\n`,
      'A=1 '.repeat(16_000),
      '\\\n'.repeat(30_000),
      '\u{1f600}'.repeat(16_000),
      'a;'.repeat(30_000),
      `${'echo a;'.repeat(5000)} echo b ${'| sh '.repeat(900)}`,
      `printf '${'%s'.repeat(100)}${'x'.repeat(30_000)}' ${'a '.repeat(15_000)} | sh`,
      `fish ${'-c '.repeat(20_000)} $x`,
    ]) {
      assert.equal((await read(script)).kind, 'opaque', script.slice(0, 20))
    }
    assert.equal(await why('ls && pwd'), 'plain')
    assert.deepEqual(await within('ls $(git push)'), ['ls', 'git push'])
  })
})
