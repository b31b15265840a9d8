// Copies files of any size to an executor:  bun examples/copy-files.ts ws://127.0.0.1:4321 /tmp/there a.txt b.bin
import { basename, resolve } from 'node:path'
import { connect, local } from '@waldo/sdk'

const [url, directory, ...files] = process.argv.slice(2)
if (!url || !directory || files.length === 0) throw new Error('usage: copy-files.ts URL DIRECTORY FILE...')

await using here = local()
await using there = connect(url)

await there.files.createDirectory(directory)
for (const file of files) {
  const target = `${directory}/${basename(file)}`
  // No faster than it is taken. Until all of it has arrived, the target is what it was before.
  await here.files.readStream(resolve(file)).pipeTo(there.files.writeStream(target))
  const { size } = await there.files.metadata(target)
  console.log(`${target}: ${size} bytes`)
}
