import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isBannedPrefix } from './banned-prefixes.ts'

const OPEN = [
  'timeout 10',
  'timeout -k 5 10',
  'env -i',
  'env A=1 B=2',
  'sudo -n',
  'sudo -u root',
  'sudo -n -- env',
  'xargs -0',
  'xargs -n 1 -P 4',
  'xargs rm',
  'nice -n 10',
  'flock lock',
  'taskset -c 0',
  'watch make',
  'parallel make',
  'find . -name x',
  'strace -f -o log',
  'su me',
  'bash -x',
  'bash -o pipefail -c',
  'bash -c -x',
  'bash -s x',
  'sh -ec',
  'fish',
  'busybox sh -c',
  'sudo bash -lc',
  'timeout 10 python3',
  'node --eval',
  'node --require ./x.js',
  'nodejs20',
  'python3.12',
  'python3.12 -u -c',
  'python3 -W ignore',
  'python3 -',
  'perl -E',
  'perl -e print',
  'perl5.36.0 -ne',
  'ruby3.2 -e',
  'awk -F :',
  'git -c',
  'git -c core.pager=x',
  'git -C x --no-pager',
  'rm -rf',
  'npx',
  'npx -y',
  'bunx',
  'uvx --from x',
  'uv run',
  'uv tool run',
  'pnpm dlx',
  'yarn dlx -q',
  'npm exec --',
  'npm run --silent',
  'bun --hot',
  'bun x',
  'deno run -A',
  'pwsh -NoProfile -Command Get-Item',
  'sudo --unheard-of npm run',
]

const DECIDED = [
  'bash -x build.sh',
  'python3.12 -m pytest',
  'node --test x.js',
  'sudo -n make',
  'sudo -u root make',
  'timeout 10 make',
  'env -i A=1 make',
  'xargs -n1 grep x',
  'nice -n 10 cargo build',
  'flock lock npm run build',
  'git -C x status',
  'rm -rf build',
  'npx prettier',
  'uv run pytest',
  'bun test',
  'deno fmt',
  'npm test',
  '7z x',
  'npm constructor x',
]

describe('a rule would allow everything', () => {
  for (const text of OPEN) test(`for \`${text}\``, () => assert.ok(isBannedPrefix(text.split(' '))))
})

describe('a rule says what is run', () => {
  for (const text of DECIDED) test(`for \`${text}\``, () => assert.ok(!isBannedPrefix(text.split(' '))))

  test('for code that is written out, after which no more can follow', () => {
    assert.ok(!isBannedPrefix(['bash', '-lc', 'make; ls']))
    assert.ok(!isBannedPrefix(['python3', '-c', 'print(1)']))
  })
})

test('options and their values decide nothing, however many there are', () => {
  const carrier = fc.constantFrom('sudo', 'env', 'nice', 'xargs', '/usr/bin/nohup', 'stdbuf', 'npx', 'setpriv', 'time')
  const last = fc.constantFrom('bash', 'python3.11', 'node', 'perl', 'npx', 'git', 'ruby3.3', 'php8.2', 'sudo', 'zsh')
  const option = fc.oneof(
    fc.constantFrom(['-x'], ['--frob'], ['--frob=y'], ['-vvv'], ['-n1']),
    fc.constantFrom(['--frob', 'y'], ['-K', 'y']),
  )
  const options = fc.array(option, { maxLength: 4 }).map((all) => all.flat())
  const wrapped = fc.array(fc.tuple(carrier, options), { maxLength: 3 }).map((all) => all.flat(2))
  const flags = fc.array(fc.constantFrom('-x', '--frob=y', '-v'), { maxLength: 3 })
  fc.assert(
    fc.property(wrapped, last, flags, (before, program, after) => {
      assert.ok(isBannedPrefix([...before, program, ...after]))
    }),
    { numRuns: 1000 },
  )
  assert.ok(isBannedPrefix(Array<string>(2000).fill('sudo')))
})
