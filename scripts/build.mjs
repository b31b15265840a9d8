// Makes dist/waldo: the command line as one file that needs nothing else.
import './setup.mjs'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const options = [
  '--compile',
  '--minify',
  '--bytecode',
  // Each command loads what it needs: a server that starts has better things to do than to read the others.
  '--format=esm',
  '--splitting',
  // The executor takes its settings from its flags, not from files of whatever directory it is started in.
  '--no-compile-autoload-dotenv',
  '--no-compile-autoload-bunfig',
  '--outfile=dist/waldo',
]
execFileSync(join(root, 'node_modules/.bin/bun'), ['build', ...options, 'packages/cli/src/main.ts'], {
  cwd: root,
  stdio: 'inherit',
})
