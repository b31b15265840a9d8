// Runs a command on an executor and ends as it ends:  bun examples/run-command.ts ws://127.0.0.1:4321 ls -l
const [url, ...argv] = process.argv.slice(2)
if (!url || argv.length === 0) throw new Error('usage: run-command.ts URL COMMAND [ARGUMENT...]')

const socket = new WebSocket(url)
const send = (message: object) => socket.send(JSON.stringify(message))
const write = { stdout: process.stdout, stderr: process.stderr }

socket.onopen = () => send({ id: 1, method: 'initialize', params: { clientName: 'example' } })
socket.onerror = () => {
  console.error(`cannot connect to ${url}`)
  process.exit(1)
}
let exitCode = 0
socket.onmessage = ({ data }) => {
  const { id, method, params, error } = JSON.parse(String(data))
  if (error) throw new Error(error.message)
  if (id === 1) {
    send({ method: 'initialized' })
    const envPolicy = { inherit: 'all', ignoreDefaultExcludes: false, exclude: [], set: {}, includeOnly: [] }
    const command = { processId: 'example', argv, cwd: 'file:///', env: {}, envPolicy, tty: false }
    send({ id: 2, method: 'process/start', params: command })
  }
  if (method === 'process/output') write[params.stream as keyof typeof write].write(Buffer.from(params.chunk, 'base64'))
  if (method === 'process/exited') exitCode = params.exitCode
  if (method === 'process/closed') process.exit(exitCode)
}
