import { serveNamespaces } from '@waldo/sandbox/linux'

/** What a server starts to make networks for commands that may only talk to a proxy. It ends with its input. Not for people. */
export async function namespaceMakerCommand(): Promise<number> {
  serveNamespaces()
  return await new Promise(() => {})
}
