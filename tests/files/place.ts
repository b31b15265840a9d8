import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RawClient, startServer } from '@waldo/testkit'

export const MiB = 1024 * 1024
export const uri = (path: string) => pathToFileURL(path).href
export const base64 = (content: string | Uint8Array) => Buffer.from(content as string).toString('base64')
/** What writing leaves behind if it does not clean up. */
export const leftovers = (directory: string) => readdirSync(directory).filter((name) => name.startsWith('.waldo-'))

export function sh(script: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['sh', '-c', script])
  assert.equal(exitCode, 0, `${script}: ${stderr}`)
}

/** A server, a client of it, and a directory. */
export async function openPlace() {
  const root = mkdtempSync(join(tmpdir(), 'waldo-files-'))
  const server = await startServer()
  const client = await RawClient.connect(server.url)
  return {
    root,
    server,
    client,
    at: (name: string) => join(root, name),
    write: (path: string, content: string | Uint8Array, more = {}) =>
      client.call('fs/writeFile', { path: uri(path), dataBase64: base64(content), ...more }),
    read: async (path: string) =>
      Buffer.from((await client.call('fs/readFile', { path: uri(path) })).dataBase64, 'base64'),
    async close(): Promise<void> {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
