import { serveCommand } from './commands/serve.ts'
import { UsageError } from './usage-error.ts'
import { VERSION } from './version.ts'

const HELP = `waldo ${VERSION}: remote hands for software agents

Usage: waldo <command> [options]

Commands:
  serve    Run commands for clients on this machine

Options:
  -h, --help       Show this help; waldo <command> --help shows a command's own
  -V, --version    Show the version

Try: waldo serve
`

async function main([command, ...args]: string[]): Promise<number> {
  switch (command) {
    case 'serve':
      return serveCommand(args)
    case undefined:
      process.stderr.write(HELP)
      return 2
    case '-h':
    case '--help':
    case 'help':
      process.stdout.write(HELP)
      return 0
    case '-V':
    case '--version':
      process.stdout.write(`waldo ${VERSION}\n`)
      return 0
    default:
      throw new UsageError(`unknown command \`${command}\``, 'waldo --help lists the commands')
  }
}

if (process.platform === 'win32') {
  process.stderr.write('Error: the executor does not run on Windows; connect to one on another machine\n')
  process.exit(1)
}
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`Error: ${error.message}\n${error.hint === '' ? '' : `${error.hint}\n`}`)
    process.exit(1)
  },
)
