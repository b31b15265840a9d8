import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { ExecError } from './errors.ts'
import type { EnvironmentProvider } from './manager/environment-snapshot.ts'
import { TomlProvider } from './manager/toml-provider.ts'
import { UrlVariableProvider } from './manager/url-variable-provider.ts'

/** A file of environments is a page or two; whatever is larger is something else. */
const MAX_FILE_BYTES = 1024 * 1024

export interface ConfigurationOptions {
  readonly configDir?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The environments that a user has configured: by `environments.toml` in the configuration directory if there is one,
 * else by `WALDO_EXEC_SERVER_URL` or `CODEX_EXEC_SERVER_URL`. The file that the codex command line keeps in
 * `$CODEX_HOME` is read only if that directory is given as `configDir`.
 */
export async function environmentsFrom(options: ConfigurationOptions): Promise<EnvironmentProvider> {
  const file = join(configDirectory(options), 'environments.toml')
  const text = await readConfig(file)
  return text === undefined ? new UrlVariableProvider(options.env) : new TomlProvider(text, file)
}

/** The argument, else `$WALDO_HOME`, else `$XDG_CONFIG_HOME/waldo`, else `~/.config/waldo`. */
export function configDirectory({ configDir, env }: ConfigurationOptions): string {
  if (configDir) return resolve(configDir)
  if (env.WALDO_HOME) return resolve(env.WALDO_HOME)
  // A relative one is to be ignored, says the specification of these variables.
  if (env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME)) return join(env.XDG_CONFIG_HOME, 'waldo')
  return join(env.HOME || homedir(), '.config', 'waldo')
}

/** Undefined if there is no such file. */
async function readConfig(file: string): Promise<string | undefined> {
  try {
    // Without O_NONBLOCK a named pipe would be waited for.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
    if (!(await handle.stat()).isFile()) throw new Error('it is not a file')
    const buffer = new Uint8Array(MAX_FILE_BYTES + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length)
      length += bytesRead
      if (bytesRead === 0 || length === buffer.length) break
    }
    if (length > MAX_FILE_BYTES) throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`)
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length))
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ExecError('CONFIG_INVALID', `failed to read environment config \`${file}\`: ${reason}`, { cause })
  }
}
