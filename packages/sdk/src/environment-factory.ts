import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { RemoteEnvironment } from '@waldo/client'
import { connectToCommand, connectToServer } from '@waldo/client/node'
import {
  type Environment,
  type EnvironmentFactory,
  type EnvironmentOptions,
  type EnvironmentTransport,
  ExecError,
  type RuntimePaths,
  type UrlTransport,
} from '@waldo/environment'
import { findExecutable } from './find-executable.ts'

const VERSION = '0.1.0'

/** Makes environments of every kind. None of them connects before it is used. */
export const environmentFactory: EnvironmentFactory = { create: createEnvironment }

function createEnvironment(id: string, transport: EnvironmentTransport, options: EnvironmentOptions): Environment {
  const { cwd } = options
  switch (transport.kind) {
    case 'local':
      return createLocal(id, options)
    case 'url': {
      const { url, connectTimeoutMs, initializeTimeoutMs } = transport
      const connect = connectToServer({ url, token: tokenOf(transport) })
      return new RemoteEnvironment({
        id,
        cwd,
        name: url,
        connect,
        connectTimeoutMs,
        initializeTimeoutMs,
        resumable: true,
      })
    }
    case 'command': {
      const { program, args, initializeTimeoutMs } = transport
      const name = [program, ...args].join(' ')
      const connect = connectToCommand(transport)
      return new RemoteEnvironment({ id, cwd, name, connect, initializeTimeoutMs, resumable: false })
    }
  }
}

/** On Bun the executor runs in this process; elsewhere it is a very near remote. */
function createLocal(id: string, { cwd, runtime = defaultRuntime() }: EnvironmentOptions): Environment {
  const { executable, stateDir } = runtime
  const connect =
    'Bun' in globalThis
      ? inProcess(runtime)
      : connectToCommand({ program: executable, args: ['serve', '--listen', 'stdio', '--state-dir', stateDir] })
  // Where we are is where its commands start: it is this machine.
  return new RemoteEnvironment({ id, cwd: cwd ?? process.cwd(), name: 'this machine', connect, resumable: false })
}

function inProcess({ executable, stateDir }: RuntimePaths) {
  return async (...args: Parameters<ReturnType<typeof connectToCommand>>) => {
    // Only Bun can load it, and only whoever works locally needs it.
    const { connectInProcess } = await import('@waldo/server')
    return await connectInProcess({ stateDir, program: [executable], version: VERSION, warn: () => {} })(...args)
  }
}

function tokenOf({ token, tokenFile }: UrlTransport): string | (() => Promise<string>) | undefined {
  if (tokenFile === undefined) return token
  return async () => {
    try {
      return (await readFile(tokenFile, 'utf8')).trim()
    } catch (cause) {
      throw new ExecError('CONNECT_FAILED', `cannot read the token: ${(cause as Error).message}`, { cause })
    }
  }
}

function defaultRuntime(): RuntimePaths {
  const { XDG_STATE_HOME } = process.env
  return {
    executable: findExecutable(process.env),
    stateDir: join(XDG_STATE_HOME || join(homedir(), '.local/state'), 'waldo'),
  }
}
