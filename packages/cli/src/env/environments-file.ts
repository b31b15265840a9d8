import { chmod, mkdir, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { configDirectory } from '@waldo/environment/node'
import { UsageError } from '../usage-error.ts'
import type { EnvironmentsFile } from './edit-environments.ts'

/** There may be tokens in it. */
const PRIVATE = 0o600
const NAME = 'environments.toml'

export function environmentsPath(): string {
  return join(configDirectory({ env: process.env }), NAME)
}

/** Changes the file of environments as a whole or not at all. One at a time: what is being written locks out others. */
export async function changeEnvironments(change: (file: EnvironmentsFile) => string): Promise<void> {
  const path = environmentsPath()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Whoever keeps it elsewhere and links to it wants the link to stay.
  const target = await realpath(path).catch(() => path)
  const draft = `${target}.new`
  const handle = await open(draft, 'wx', PRIVATE).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw new UsageError(`cannot write ${draft}: ${error.message}`)
    throw new UsageError(`${draft} exists: somebody else is changing the environments`, 'if nobody is, delete it')
  })
  try {
    // Not before the lock is ours.
    const text = change({ text: await readText(target), path })
    await handle.writeFile(text)
    await handle.sync()
    const mode = (await stat(target).catch(() => undefined))?.mode
    if (mode !== undefined) await chmod(draft, mode & 0o777)
    await rename(draft, target)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return ''
    throw new UsageError(`cannot read ${path}: ${message}`)
  }
}
