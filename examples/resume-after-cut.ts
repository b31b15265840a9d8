// Follows a command through lost connections:  bun examples/resume-after-cut.ts ws://127.0.0.1:4321
// Pull the plug while it runs, put it back: nothing is missing, nothing comes twice.
import { connect } from '@waldo/sdk'

const [url] = process.argv.slice(2)
if (!url) throw new Error('usage: resume-after-cut.ts URL')

await using environment = connect(url)
environment.onStatus((status) => console.error(`(${status.state})`))

const script = 'for n in 1 2 3 4 5 6 7 8 9 10; do echo $n; sleep 0.3; done'
const counting = await environment.processes.start(['sh', '-c', script])
for await (const bytes of counting.output()) process.stdout.write(bytes)

const { exitCode, bytes } = await counting.wait()
console.log(`ended with ${exitCode} after ${bytes.output} bytes`)
