import { pathFromText } from '../selection/path-from-text.ts'
import {
  type ConfiguredEnvironment,
  checkDefault,
  duplicated,
  type EnvironmentProvider,
  type EnvironmentSnapshot,
  LOCAL,
} from './environment-snapshot.ts'
import { checkProgram, environmentUrl, isDisabled } from './environment-transport.ts'
import { TomlDocument, type TomlTable } from './toml-document.ts'

const KEYS = ['default', 'include_local', 'environments'] as const
const ENVIRONMENT_KEYS = [
  'id',
  'url',
  'auth_bearer_token',
  'token_file',
  'connect_timeout_sec',
  'initialize_timeout_sec',
  'program',
  'args',
  'env',
  'cwd',
  'skills',
] as const
const MAX_ID_BYTES = 64

/**
 * The environments of an `environments.toml`. The file of the codex command line is one, too.
 *
 *     default = "devbox"             # an id, or "none"; otherwise `local` if it is included
 *     include_local = true
 *
 *     [[environments]]
 *     id = "devbox"
 *     url = "wss://host/path"        # or unix:///run/waldo.sock
 *     auth_bearer_token = "…"        # or token_file = "path"
 *     connect_timeout_sec = 10.0
 *     initialize_timeout_sec = 10.0
 *     cwd = "/srv/project"           # where commands start there
 *
 *     [[environments]]
 *     id = "ssh"
 *     program = "ssh"
 *     args = ["dev", "waldo serve --listen stdio"]
 *     env = { KEY = "value" }
 *     cwd = "here"                   # where the program is started
 *
 * Relative paths start at the folder of the file.
 */
export class TomlProvider implements EnvironmentProvider {
  readonly #text: string
  readonly #file: string

  /** `file`: its path, which errors begin with and relative paths in it start from. */
  constructor(text: string, file: string) {
    this.#text = text
    this.#file = file
  }

  snapshot(): EnvironmentSnapshot {
    const { root } = new TomlDocument(this.#text, this.#file)
    root.allowOnly(KEYS)
    const chosen = root.text('default')
    const includeLocal = root.flag('include_local') ?? true
    // The shape of everything comes before the sense of anything.
    const drafts = root.tables('environments').map(draftOf)
    const ids = new Set<string>(includeLocal ? [LOCAL] : [])
    const environments = drafts.map((draft) => {
      const environment = this.#configured(draft)
      if (ids.has(environment.id)) draft.table.fail('id', duplicated(environment.id).message)
      ids.add(environment.id)
      return environment
    })
    if (chosen === undefined) return { environments, default: includeLocal ? LOCAL : null, includeLocal }
    if (isDisabled(chosen)) return { environments, default: null, includeLocal }
    root.check('default', () => checkDefault(chosen, ids))
    return { environments, default: chosen, includeLocal }
  }

  #configured(draft: Draft): ConfiguredEnvironment {
    const { table, id, url, program, token, tokenFile, cwd, initializeTimeoutMs } = draft
    checkConfiguredId(table, id)
    if (program === undefined) {
      const orphan = ['args', 'env', ...(url === undefined ? ['cwd'] : [])].find((key) => table.has(key))
      if (orphan) table.fail(orphan, `environment \`${id}\` args, env, and cwd require program`)
    }
    if (url === undefined) {
      const orphan = ['connect_timeout_sec', 'auth_bearer_token', 'token_file'].find((key) => table.has(key))
      if (orphan) table.fail(orphan, `environment \`${id}\` ${orphan} requires url`)
    }
    if (token !== undefined && tokenFile !== undefined) {
      table.fail('token_file', `environment \`${id}\` must set at most one of auth_bearer_token and token_file`)
    }
    const onlyOne = `environment \`${id}\` must set exactly one of url or program`
    if (url !== undefined && program !== undefined) table.fail('program', onlyOne)
    if (program !== undefined) {
      table.check('program', () => checkProgram(id, program))
      const { args = [], env = {} } = draft
      const startedIn = cwd === undefined ? undefined : this.#resolve(cwd)
      return { id, transport: { kind: 'command', program, args, env, cwd: startedIn, initializeTimeoutMs } }
    }
    if (url === undefined) return table.fail(undefined, onlyOne)
    if (tokenFile?.trim() === '') table.fail('token_file', `environment \`${id}\` token_file cannot be empty`)
    const transport = {
      kind: 'url',
      url: table.check('url', () => environmentUrl(url)),
      token,
      tokenFile: tokenFile === undefined ? undefined : this.#resolve(tokenFile),
      connectTimeoutMs: draft.connectTimeoutMs,
      initializeTimeoutMs,
    } as const
    if (cwd === undefined) return { id, transport }
    table.check('cwd', () => pathFromText(cwd))
    return { id, transport, cwd }
  }

  /** A path of this machine. */
  #resolve(path: string): string {
    if (/^[\\/]|^[A-Za-z]:[\\/]/.test(path)) return path
    return this.#file.replace(/[^\\/]*$/, '') + path
  }
}

type Draft = ReturnType<typeof draftOf>

function draftOf(table: TomlTable) {
  table.allowOnly(ENVIRONMENT_KEYS)
  // What it says about skills is for others.
  table.table('skills')
  return {
    table,
    id: table.text('id') ?? table.missing('id'),
    url: table.text('url'),
    token: table.text('auth_bearer_token'),
    tokenFile: table.text('token_file'),
    connectTimeoutMs: table.timeoutMs('connect_timeout_sec'),
    initializeTimeoutMs: table.timeoutMs('initialize_timeout_sec'),
    program: table.text('program'),
    args: table.texts('args'),
    env: table.table('env')?.allTexts(),
    cwd: table.text('cwd'),
  }
}

function checkConfiguredId(table: TomlTable, id: string): void {
  const fail = (what: string) => table.fail('id', `environment id ${what}`)
  if (id.trim() === '') fail('cannot be empty')
  if (id !== id.trim()) fail(`\`${id}\` must not contain surrounding whitespace`)
  if (id === LOCAL || isDisabled(id)) fail(`\`${id}\` is reserved`)
  if (new TextEncoder().encode(id).length > MAX_ID_BYTES) fail(`\`${id}\` cannot be longer than 64 characters`)
  if (!/^[A-Za-z0-9_-]+$/.test(id)) fail(`\`${id}\` must contain only ASCII letters, numbers, '-' or '_'`)
}
