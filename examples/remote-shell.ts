// A shell on an executor, as if you sat there:  bun examples/remote-shell.ts ws://127.0.0.1:4321
import { connect } from '@waldo/sdk'

const [url] = process.argv.slice(2)
if (!url) throw new Error('usage: remote-shell.ts URL')

await using environment = connect(url)
const { shell } = await environment.info()
const size = () => ({ cols: process.stdout.columns || 80, rows: process.stdout.rows || 24 })
await using session = await environment.processes.start([shell.path, '-i'], { tty: size() })

process.stdout.on('resize', () => void session.resize(size()))
process.stdin.setRawMode?.(true)
process.stdin.on('data', (keys) => void session.write(keys))
for await (const bytes of session.output()) process.stdout.write(bytes)

process.stdin.setRawMode?.(false)
process.stdin.destroy()
process.exitCode = (await session.wait()).exitCode ?? 1
