// Sets everything up, then checks and tests everything. The last line says how many passed and failed.
import './setup.mjs'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = (name) => join(root, 'node_modules/.bin', name)
const totals = { passed: 0, failed: 0 }
/** Shown again at the end, where one looks first. */
const failures = []

function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, ...options })
}

/** The same beside others. */
function start(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk))
    child.once('error', reject)
    child.once('close', (status, signal) => resolve({ status, signal, output: Buffer.concat(chunks).toString() }))
  })
}

/** A tool that is silent or explains itself. */
function check(title, command, args) {
  const { status, stdout, stderr } = run(command, args)
  const ok = status === 0
  totals[ok ? 'passed' : 'failed']++
  console.log(`${ok ? '✓' : '✗'} ${title}`)
  if (ok) return
  console.log(`${stdout}${stderr}`)
  failures.push(title)
}

/** A test runner: what it prints is shown when it has ended, and counted. */
async function tests(title, command, args, pattern) {
  const { status, signal, output } = await start(command, args)
  console.log(`\n${title}\n${output}`)
  const [, passed] = pattern.passed.exec(output) ?? []
  const [, failed] = pattern.failed.exec(output) ?? []
  totals.passed += Number(passed ?? 0)
  totals.failed += Number(failed ?? 0)
  failures.push(...[...output.matchAll(pattern.failure)].map(([text]) => text.trim()))
  // Whatever went wrong without being counted counts once.
  if (status === 0 || Number(failed ?? 0) > 0) return
  totals.failed++
  failures.push(`${title}: ended with ${status ?? signal}`)
}

/** What sandboxes are made with, and a shell that reads scripts in its own way. Installed where we may. */
const INSTALL = 'apt-get install -y bubblewrap zsh'
const FIND = ['-c', 'command -v bwrap && command -v zsh']
const isMissing = run('sh', FIND).status !== 0
if (isMissing && process.getuid?.() === 0) run('sh', ['-c', `${INSTALL} || (apt-get update && ${INSTALL})`])
check(`bubblewrap and zsh are there (${INSTALL})`, 'sh', FIND)
check('formatted and linted (biome)', bin('biome'), ['ci', '.'])
check('types (tsc)', bin('tsc'), ['-p', 'tsconfig.json'])
check('types of what runs everywhere (tsc)', bin('tsc'), ['-p', 'tsconfig.portable.json'])
check('nothing unused (knip)', bin('knip'), [])
check('one file (npm run build)', process.execPath, ['scripts/build.mjs'])

// The packages that run everywhere are tested on Node too, which cannot read TypeScript in all the versions we support.
const built = join(root, '.build/node')
rmSync(built, { recursive: true, force: true })
mkdirSync(built, { recursive: true })
const testsIn = (directory, options) =>
  readdirSync(join(root, directory), options)
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${directory}/${file}`)
const portable = [
  ...['protocol', 'rpc', 'environment', 'client', 'exec'].flatMap((name) =>
    testsIn(`packages/${name}/src`, { recursive: true }),
  ),
  ...['tests/environments', 'tests/exec', 'tests/patches'].flatMap((directory) => testsIn(directory)),
]
check('bundled for Node', bin('bun'), ['build', '--target=node', `--outdir=${built}`, '--root=.', ...portable])
const bundles = readdirSync(built, { recursive: true })
  .filter((file) => file.endsWith('.test.js'))
  .map((file) => join(built, file))
// Most of the time tests wait for something: two runners at once are hardly in each other's way.
const onBun = tests('On Bun', bin('bun'), ['test', '--timeout', '60000'], {
  passed: /^\s*(\d+) pass$/m,
  failed: /^\s*(\d+) fail$/m,
  // What went wrong is said before the name.
  failure: /(?:^(?!\((?:pass|skip|fail)\)).*\n){0,40}^\(fail\) .*$/gm,
})
const onNode = tests(`On Node ${process.version}`, process.execPath, ['--test', '--test-reporter=tap', ...bundles], {
  passed: /^# pass (\d+)$/m,
  failed: /^# fail (\d+)$/m,
  // And here behind it.
  failure: /^ *not ok \d+ - .*(?:\n *---\n(?:.*\n){0,40}? *\.\.\.$)?/gm,
})
await Promise.all([onBun, onNode])

if (failures.length > 0) console.log(`Failed:\n${failures.map((text) => `${text}\n\n`).join('')}`)
console.log(`${totals.passed} passed, ${totals.failed} failed`)
process.exitCode = totals.failed === 0 ? 0 : 1
