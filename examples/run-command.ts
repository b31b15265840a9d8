// Runs a command on an executor and ends as it ends:  bun examples/run-command.ts ws://127.0.0.1:4321 ls -l
import { connect, ExecError } from '@waldo/sdk'

const [url, ...argv] = process.argv.slice(2)
if (!url || argv.length === 0) throw new Error('usage: run-command.ts URL COMMAND [ARGUMENT...]')

await using environment = connect(url)
try {
  const command = await environment.processes.start(argv)
  for await (const event of command.events()) {
    if (event.type === 'output') process[event.stream === 'stderr' ? 'stderr' : 'stdout'].write(event.data)
    if (event.type === 'exited') process.exitCode = event.exitCode
  }
} catch (error) {
  // Nobody is listening, there is no such program, the connection was lost for good: `code` says which.
  if (!ExecError.is(error)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 125
}
