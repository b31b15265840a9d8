import { serveCommand } from './commands/serve.ts'
import { print, printError } from './print.ts'
import { UsageError } from './usage-error.ts'
import { VERSION } from './version.ts'

const HELP = `waldo ${VERSION}: remote hands for software agents

Usage: waldo <command> [options]

Commands:
  serve        Run commands for clients on this machine
  run          Run a command in an environment: here, or on another machine
  cp           Copy files from and to environments
  env          List, check and configure environments
  doctor       Find out what this machine can enforce
  policy       Ask the rules for commands: what would happen, and why
  apply-patch  Change files by a patch, all of them or none

Options:
  -h, --help       Show this help; waldo <command> --help shows a command's own
  -V, --version    Show the version

Try: waldo serve`

async function main([command, ...args]: string[]): Promise<number> {
  switch (command) {
    case 'serve':
      return serveCommand(args)
    case 'run':
      return (await import('./commands/run.ts')).runCommand(args)
    case 'cp':
      return (await import('./commands/cp.ts')).cpCommand(args)
    case 'env':
      return (await import('./commands/env.ts')).envCommand(args)
    case 'doctor':
      return (await import('./commands/doctor.ts')).doctorCommand(args)
    case 'policy':
      return (await import('./commands/policy.ts')).policyCommand(args)
    case 'apply-patch':
      return (await import('./commands/apply-patch.ts')).applyPatchCommand(args)
    case 'file-helper':
      return (await import('./commands/file-helper.ts')).fileHelperCommand()
    case 'namespace-maker':
      return (await import('./commands/namespace-maker.ts')).namespaceMakerCommand()
    case undefined:
      printError(HELP)
      return 2
    case '-h':
    case '--help':
    case 'help':
      print(HELP)
      return 0
    case '-V':
    case '--version':
      print(`waldo ${VERSION}`)
      return 0
    default:
      throw new UsageError(`unknown command \`${command}\``, 'waldo --help lists the commands')
  }
}

if (process.platform === 'win32') {
  printError('Error: the executor does not run on Windows; connect to one on another machine')
  process.exit(1)
}
main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    if (!(error instanceof UsageError)) throw error
    printError(`Error: ${error.message}${error.hint === '' ? '' : `\n${error.hint}`}`)
    process.exit(1)
  },
)
